import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import {
  type Actual,
  type Address,
  type ChangeInput,
  type Desired,
  type KindName,
  kinds,
  type Resource,
  resolveValue,
  sameValue,
  type Value,
} from '../resources/index.ts'
import { spanOf } from './identify.ts'
import { compareText } from './lock.ts'
import { isDeletedByRemoval, isForgotten, type Removed } from './removal.ts'

/** One address with what is wanted and what lives. Both the same thing: unmanaged. */
export interface Pair {
  readonly address: Address
  readonly kind: KindName
  readonly desired?: Resource
  readonly actual?: Resource
}

/** One difference between the two states, ready to be given to the catalogue's templates. */
export interface Difference {
  readonly address: Address
  readonly kind: KindName
  readonly action: 'create' | 'update' | 'delete'
  readonly input: ChangeInput
  /** A new child that its parent's creation brings along; `input.children` of the parent holds it. */
  readonly ridesWith?: Address
}

/** Every address with what lives, and what is to be said of what no definition mentions. */
export interface Pairs {
  readonly pairs: readonly Pair[]
  readonly unmanaged: readonly Resource[]
  /** Was managed here, and stays as it is until a definition says what is to become of it. */
  readonly undecided: readonly Removed[]
  /** Was managed here, and is handed back. */
  readonly forgotten: readonly Removed[]
}

/**
 * Pairs every address with what lives. Live things that no definition mentions are copied into desired, so that the
 * diff has no exceptions; under `manage: all`, and where the lock says that they were managed here, they are not, and so
 * are to be deleted. What goes with its parent is no change of its own, what an unmanaged parent holds stays unmanaged,
 * and what is decided of a parent is decided of what it holds.
 */
export function pairUp(
  desired: Desired,
  actual: Actual,
  { matches, removed }: { readonly matches: ReadonlyMap<Address, Resource>; readonly removed: readonly Removed[] },
): Pairs {
  const pairs: Pair[] = []
  const fate = new Map<string, 'managed' | 'unmanaged' | 'deleted' | 'kept'>()
  for (const resource of desired.resources) {
    const live = matches.get(resource.address)
    if (live) fate.set(live.id!, resource.tombstone ? 'deleted' : 'managed')
    const { address, kind } = resource
    pairs.push({ address, kind, desired: resource, ...(live ? { actual: live } : {}) })
  }
  const declared = new Set(matches.values())
  const byLive = new Map(removed.map((one) => [one.live, one]))
  const unmanaged: Resource[] = []
  const undecided: Removed[] = []
  const forgotten: Removed[] = []
  for (const live of parentsFirst(actual.resources)) {
    if (declared.has(live)) continue
    const was = byLive.get(live)
    const { kind, parentId } = live
    const address = was?.address ?? live.address
    const parentFate = parentId === undefined ? 'managed' : (fate.get(parentId) ?? 'unmanaged')
    if (parentFate === 'deleted') continue
    const stays = isForgotten(desired, address) || !isDeletedByRemoval(live)
    const goes = !stays && parentFate === 'managed' && (was !== undefined || desired.manageAll.has(kind))
    fate.set(live.id!, goes ? 'deleted' : was ? 'kept' : 'unmanaged')
    if (was && !goes && parentFate !== 'kept') (isForgotten(desired, address) ? forgotten : undecided).push(was)
    // What always exists (the organization, its quorum) is nothing that somebody added.
    if (!goes && kinds[kind].remove) unmanaged.push(live)
    pairs.push({ address, kind, actual: live, ...(goes ? {} : { desired: live }) })
  }
  return { pairs, unmanaged: unmanaged.sort(byAddressAndId), undecided, forgotten }
}

/** What holds others before what it holds, at any depth. */
function parentsFirst(resources: readonly Resource[]): readonly Resource[] {
  const depth = ({ kind }: Resource): number => {
    const { parent } = kinds[kind]
    return parent === undefined ? 0 : 1 + depth({ kind: parent } as Resource)
  }
  return [...resources].sort((a, b) => depth(a) - depth(b))
}

/** The differences of all pairs, sorted by address; and what cannot be changed, as diagnostics. */
export function diff(
  pairs: readonly Pair[],
  ids: Readonly<Record<Address, string>>,
): { readonly differences: readonly Difference[]; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const created = new Map<Address, Pair>()
  const goes = ({ desired }: Pair) => desired === undefined || desired.tombstone === true
  for (const pair of pairs) if (!pair.actual && !goes(pair)) created.set(pair.address, pair)
  const ridesWith = ({ kind, desired }: Pair) =>
    kinds[kind].rides && desired?.parent !== undefined && created.has(desired.parent) ? desired.parent : undefined
  const ridersOf = Map.groupBy(created.values(), ridesWith)

  const differences = pairs.flatMap((pair): readonly Difference[] => {
    const { address, kind, desired, actual } = pair
    if (goes(pair)) {
      if (!actual) return []
      return [{ address, kind, action: 'delete', input: { desired, actual, fields: [], children: [] } }]
    }
    if (!actual) {
      const children = (ridersOf.get(address) ?? []).map((one) => one.desired!)
      const parent = ridesWith(pair)
      const input = { desired, actual, fields: [], children: children.sort(byAddressAndId) }
      const late = kinds[kind].afterCreation?.(desired!) ?? []
      return [
        { address, kind, action: 'create', input, ...(parent === undefined ? {} : { ridesWith: parent }) },
        ...(late.length > 0 ? [{ address, kind, action: 'update' as const, input: { ...input, fields: late } }] : []),
      ]
    }
    const fields = changedFields(desired!, actual, ids)
    for (const field of fields) {
      const immutable = kinds[kind].fields[field]?.immutable
      if (immutable === undefined) continue
      const message = `\`${field}\` of \`${address}\` cannot be changed: ${immutable}`
      diagnostics.push(diagnostic('plan/immutable', message, spanOf(desired!, field)))
    }
    if (fields.length === 0 || fields.some((field) => kinds[kind].fields[field]?.immutable !== undefined)) return []
    const whole = { desired, actual, fields, children: [] }
    const known = { ...desired!, fields: resolveValue(desired!.fields, ids) as Resource['fields'] }
    const parts = kinds[kind].split?.({ ...whole, desired: known }) ?? [{ fields }]
    return parts.map((part) => ({ address, kind, action: 'update', input: { ...whole, ...part } }))
  })
  for (const difference of differences) {
    const fault = unsupported(difference)
    if (fault) diagnostics.push(fault)
  }
  return { differences: differences.filter((one) => !unsupported(one)).sort(byAddress), diagnostics }
}

/** The managed fields of a desired resource: what it says, and its name where the name is the key it stands under. */
export function managedFields({ kind, name, fields }: Resource): Readonly<Record<string, Value>> {
  return isNamedByKey(kind) ? { ...fields, name } : fields
}

/** Whether the name of the live thing is the key under which a definition stands (`name` is a field, but not written). */
export function isNamedByKey(kind: KindName): boolean {
  const row = kinds[kind].fields['name']
  return row !== undefined && row.schema === undefined
}

/** The fields that a definition gives another value than lives. */
export function changedFields(
  desired: Resource,
  actual: Resource,
  ids: Readonly<Record<Address, string>>,
): readonly string[] {
  // What is unmanaged is wanted as it lives.
  if (desired === actual) return []
  const rows = kinds[desired.kind].fields
  const wanted = managedFields(desired)
  const lives = managedFields(actual)
  return Object.keys(rows)
    .filter((field) => wanted[field] !== undefined)
    .filter((field) => !sameValue(resolveValue(wanted[field]!, ids), lives[field], rows[field]!.compare))
    .sort(compareText)
}

function unsupported({ kind, action, address, input }: Difference): Diagnostic | undefined {
  const row = kinds[kind]
  const can = { create: row.create, update: row.update, delete: row.remove }[action]
  const what = (input.desired ?? input.actual)!
  const why = action === 'create' ? row.uncreatable?.(what) : undefined
  if (why !== undefined)
    return diagnostic('plan/cannot-change', `\`${address}\` cannot be created: ${why}`, spanOf(what))
  if (can) return undefined
  return diagnostic('plan/cannot-change', `the API has no activity to ${action} \`${address}\``, spanOf(what))
}

function byAddress(a: Difference, b: Difference): number {
  return compareText(a.address, b.address) || compareText(a.input.actual?.id ?? '', b.input.actual?.id ?? '')
}

function byAddressAndId(a: Resource, b: Resource): number {
  return compareText(a.address, b.address) || compareText(a.id ?? '', b.id ?? '')
}
