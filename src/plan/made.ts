/**
 * What applies made since the lock was last written: the lock is written when nothing is left to do, and an apply may wait for
 * people for days, go on without the person who began it, or end halfway. By this it is known all the same what was made here.
 */
import type { Actual, Address, Resource } from '../resources/index.ts'
import { leavableFields } from './comparable.ts'
import type { Change } from './document.ts'
import { compareText, type Lock, type LockRow, sortMembers } from './lock.ts'
import { hasOwnId } from './removal.ts'

/** A change that was carried out; its id where the answer named one. */
export interface Made {
  readonly change: Pick<Change, 'address' | 'kind' | 'action' | 'fields'>
  readonly id?: string
}

/** The lock with what was made since; what lives no more is left out, and what it has already keeps its id. */
export function withMade(lock: Lock, made: readonly Made[], { organizationId, resources }: Actual): Lock {
  if (made.length === 0) return lock
  const rows: Record<Address, LockRow> = { ...lock[organizationId] }
  const taken = new Set(Object.values(rows).flatMap(({ id }) => id ?? []))
  for (const { change, id } of made) {
    const { address, kind, action, fields } = change
    const written = new Set(fields.flatMap(({ field, after }) => (after === undefined ? [] : [field])))
    const fresh = leavableFields(kind).filter((field) => written.has(field))
    const row = rows[address]
    if (row && (action === 'create' || action === 'update')) {
      if (row.managed) rows[address] = { ...row, managed: [...new Set([...row.managed, ...fresh])].sort(compareText) }
    } else if (action === 'create') {
      const live = liveOf(resources, address, id)
      if (!live || (hasOwnId(live) && taken.has(live.id!))) continue
      taken.add(live.id!)
      rows[address] = { ...(hasOwnId(live) ? { id: live.id! } : {}), managed: fresh }
    }
  }
  return sortMembers({ ...lock, [organizationId]: sortMembers(rows) })
}

/** By its id; what the answer named none for, such as a key that came with its user, by the name that it was given. */
function liveOf(resources: readonly Resource[], address: Address, id: string | undefined): Resource | undefined {
  if (id !== undefined) return resources.find((one) => one.id === id)
  const named = resources.filter((one) => one.address === address)
  return named.length === 1 ? named[0] : undefined
}
