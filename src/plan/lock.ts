import type { Address } from '../resources/index.ts'

/**
 * Which live thing each name means, and what was last applied to it: organization id → address → row. Kept beside the
 * definitions, reviewed in Git.
 */
export type Lock = Readonly<Record<string, LockRows>>
export type LockRows = Readonly<Record<Address, LockRow>>

/** Where the rows stand in their file (`path:line:column`): organization id → address → place. */
export type LockPlaces = Readonly<Record<string, Readonly<Record<Address, string>>>>

export interface LockRow {
  /** The live id; absent for what has none of its own, such as the root quorum. */
  readonly id?: string
  /** Digest of the managed fields as they were last applied or found to be as defined (`applied.ts`). */
  readonly applied?: string
  /** The fields that were managed then, of those that a definition may leave out; absent in rows of before they were kept. */
  readonly managed?: readonly string[]
}

/** Finds the row of a thing: by the live id, which outlasts a new name, and otherwise by its address. */
export function createRowLookup(
  rows: LockRows,
): (address: Address, live: { readonly id?: string } | undefined) => LockRow | undefined {
  const byId = new Map(Object.values(rows).flatMap((row) => (row.id === undefined ? [] : [[row.id, row] as const])))
  return (address, live) => (live && byId.get(live.id!)) ?? (Object.hasOwn(rows, address) ? rows[address] : undefined)
}

/** The lock with the ids that an apply brought, sorted. */
export function extendLock(lock: Lock, organizationId: string, ids: Readonly<Record<Address, string>>): Lock {
  const made = Object.fromEntries(Object.entries(ids).map(([address, id]): [Address, LockRow] => [address, { id }]))
  return sortMembers({ ...lock, [organizationId]: sortMembers({ ...lock[organizationId], ...made }) })
}

/** The same members in the order of their names, so that equal content is equal text. */
export function sortMembers<T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => compareText(a, b)))
}

/** Order by UTF-16 code units: the same on every machine, whatever its locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
