/**
 * Removal: what the lock says was managed here, is live, and is in no definition any more. Taking a definition out of Git
 * takes the thing away: it is deleted like anything under `manage: all`, or, where a deletion destroys
 * keys or people, stays *undecided* until a definition says `delete: true` or `forget:` names it. What `forget:` names is
 * handed back: it stays live and the lock loses its row.
 */
import {
  type Actual,
  type Address,
  type Desired,
  kinds,
  parentOf,
  parseAddress,
  type Resource,
} from '../resources/index.ts'
import { compareText, type LockRows } from './lock.ts'

/** Something that was managed here and is in no definition any more. */
export interface Removed {
  /** The address that the lock has for it; its live name may have changed since. */
  readonly address: Address
  readonly live: Resource
}

/** Whether a live thing has an id of its own; the quorum, a feature and the organization stand by their name. */
export function hasOwnId({ kind, id, name }: Resource): boolean {
  return kinds[kind].remove !== undefined && id !== name
}

/**
 * Splits the rows of the lock that no definition answers to: what still lives, and what is gone. Rows of a kind that was
 * not read are neither: nobody knows.
 */
export function removals(
  rows: LockRows,
  { desired, actual, matches }: { desired: Desired; actual: Actual; matches: ReadonlyMap<Address, Resource> },
): { readonly removed: readonly Removed[]; readonly gone: readonly Address[] } {
  const keyOf = (live: Resource) => (hasOwnId(live) ? live.id! : live.address)
  const alive = new Map(actual.resources.map((live) => [keyOf(live), live]))
  const claimed = new Set([...matches.values()].map(keyOf))
  const declared = new Set(desired.resources.map(({ address }) => address))
  const unread = new Set(actual.unread)
  const removed: Removed[] = []
  const gone: Address[] = []
  for (const [address, { id }] of Object.entries(rows)) {
    const key = id ?? address
    if (declared.has(address) || claimed.has(key)) continue
    const live = alive.get(key)
    if (live) removed.push({ address, live })
    else if (!unread.has(parseAddress(address)!.kind)) gone.push(address)
  }
  return { removed: removed.sort((a, b) => compareText(a.address, b.address)), gone: gone.sort(compareText) }
}

/** Whether definitions hand this back, or what holds it. */
export function isForgotten({ forget = [] }: Pick<Desired, 'forget'>, address: Address): boolean {
  if (forget.length === 0) return false
  const parent = parentOf(address)
  return forget.includes(address) || (parent !== undefined && isForgotten({ forget }, parent))
}

/** Whether it is deleted as soon as no definition has it; everything else needs a word for itself. */
export function isDeletedByRemoval({ kind }: Resource): boolean {
  return kinds[kind].remove !== undefined && !kinds[kind].deleteNeedsTombstone
}
