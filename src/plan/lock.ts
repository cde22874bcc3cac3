import type { Address } from '../resources/index.ts'

/** Which live thing a name means: organization id → address → live id. Kept beside the definitions, reviewed in Git. */
export type Lock = Readonly<Record<string, Readonly<Record<Address, string>>>>

/** The lock with the ids that an apply brought, sorted. */
export function extendLock(lock: Lock, organizationId: string, ids: Readonly<Record<Address, string>>): Lock {
  return sortMembers({ ...lock, [organizationId]: sortMembers({ ...lock[organizationId], ...ids }) })
}

/** The same members in the order of their names, so that equal content is equal text. */
export function sortMembers<T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => compareText(a, b)))
}

/** Order by UTF-16 code units: the same on every machine, whatever its locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
