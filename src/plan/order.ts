/**
 * What must come before what. Terms: a *node* is a difference that an activity carries (what rides in its parent's
 * creation is part of the parent's node). A *hard* edge needs an earlier batch. A *soft* edge is about power alone and is
 * kept as well by standing in the same batch, because an activity happens at once.
 *
 * Rules, hard: what is referred to exists · what loses a reference lets go before the deletion · a name is free before
 * it is taken · a new credential before the old one of the same user goes · a quorum's change after its members'
 * credentials, and before credentials go that the old quorum cannot do without. Soft: whatever loosens comes after
 * everything that tightens, unless the tightening needs it (no moment between is wider than both ends) · the
 * credential in use, and its user, go after everything else: nothing can be submitted after that.
 */
import {
  type Actual,
  type Address,
  kinds,
  mentionsOf,
  type Power,
  type Resource,
  referencesOf,
  resolveValue,
} from '../resources/index.ts'
import { isActor, isCredential, QUORUM, quorumOf } from './authority.ts'
import { type Difference, isNamedByKey } from './diff.ts'
import { templateOf } from './template.ts'

export interface Node {
  readonly difference: Difference
  readonly power: Power
  readonly hard: ReadonlySet<number>
  readonly soft: ReadonlySet<number>
  /** Tightens, or is needed by what does. */
  readonly urgent: boolean
}

/** Orders differences; nodes stand in the order of the differences that are not riding. */
export function order(
  differences: readonly Difference[],
  actual: Actual,
  ids: Readonly<Record<Address, string>>,
): readonly Node[] {
  const carried = differences.filter(({ ridesWith }) => ridesWith === undefined)
  const isLast = carried.map(({ action, input }) => action === 'delete' && isActor(input.actual!, actual.actor))
  const powers = carried.map((difference, index) => (isLast[index] ? 'neutral' : powerOf(difference, actual, ids)))
  const hard = carried.map(() => new Set<number>())
  const add = (later: number, earlier: number) => {
    if (later !== earlier) hard[later]!.add(earlier)
  }

  referencesFirst(differences, carried, add)
  lettingGoFirst(carried, add)
  namesFreedFirst(carried, add)
  newCredentialsFirst(carried, add)
  quorumInItsPlace(carried, actual, add)

  const tightening = carried.flatMap((_, index) => (powers[index] === 'tightens' ? [index] : []))
  const urgent = ancestors(tightening, hard)
  const soft = carried.map((_, index) => new Set(powers[index] === 'loosens' && !urgent.has(index) ? tightening : []))
  carried.forEach((_, last) => {
    if (!isLast[last]) return
    const edges = hard.map((earlier, index) => new Set([...earlier, ...soft[index]!]))
    for (const [index] of carried.entries()) if (!ancestors([index], edges).has(last)) soft[last]!.add(index)
  })
  return carried.map((difference, index) => ({
    difference,
    power: powers[index]!,
    hard: hard[index]!,
    soft: soft[index]!,
    urgent: urgent.has(index),
  }))
}

type AddEdge = (later: number, earlier: number) => void

/** What one change does to the power to act; references are compared as the ids they stand for. */
function powerOf({ kind, action, input }: Difference, actual: Actual, ids: Readonly<Record<Address, string>>): Power {
  const { desired } = input
  const resolved = desired && { ...desired, fields: resolveValue(desired.fields, ids) as Resource['fields'] }
  return kinds[kind].power({ ...input, desired: resolved }, action, actual)
}

function referencesFirst(all: readonly Difference[], carried: readonly Difference[], add: AddEdge): void {
  const maker = new Map<Address, number>()
  carried.forEach(({ action, address }, index) => {
    if (action === 'create') maker.set(address, index)
  })
  for (const { address, ridesWith } of all) if (ridesWith !== undefined) maker.set(address, maker.get(ridesWith)!)
  carried.forEach((difference, index) => {
    const { action, kind, input } = difference
    // What holds it comes first, also where the API names that otherwise than by its id.
    const parent = action === 'create' ? (input.desired?.parent ?? []) : []
    const needed = action !== 'delete' && input.desired ? (kinds[kind].needs?.(input) ?? []) : []
    const references = referencesOf(templateOf(difference).parameters([input]))
    for (const address of references.concat(parent, needed)) {
      const earlier = maker.get(address)
      if (earlier !== undefined) add(index, earlier)
    }
  })
}

function lettingGoFirst(carried: readonly Difference[], add: AddEdge): void {
  const deletions = new Map<string, number[]>()
  carried.forEach(({ action, input }, index) => {
    const id = input.actual?.id
    if (action === 'delete' && id !== undefined) deletions.set(id, [...(deletions.get(id) ?? []), index])
  })
  if (deletions.size === 0) return
  carried.forEach(({ input: { actual } }, index) => {
    for (const text of actual ? mentionsOf(actual) : [])
      for (const deletion of deletions.get(text) ?? []) add(deletion, index)
  })
}

function namesFreedFirst(carried: readonly Difference[], add: AddEdge): void {
  const place = (kind: string, parentId: string | undefined, name: string) =>
    JSON.stringify([kind, parentId ?? null, name])
  const freed = new Map<string, number>()
  const moves = ({ kind, action, input }: Difference) =>
    isNamedByKey(kind) && (action !== 'update' || input.fields.includes('name'))
  carried.forEach((one, index) => {
    const { actual } = one.input
    if (actual && moves(one)) freed.set(place(one.kind, actual.parentId, actual.name), index)
  })
  carried.forEach((one, index) => {
    if (!moves(one) || one.action === 'delete') return
    const earlier = freed.get(place(one.kind, one.input.actual?.parentId, one.input.desired!.name))
    if (earlier !== undefined) add(index, earlier)
  })
}

/** A user keeps a way in throughout (docs/protocol/organizations.md#ways-in). */
function newCredentialsFirst(carried: readonly Difference[], add: AddEdge): void {
  carried.forEach((gone, deletion) => {
    if (gone.action !== 'delete' || !isCredential(gone)) return
    const owner = gone.input.actual!.parent
    carried.forEach((made, creation) => {
      if (made.action === 'create' && isCredential(made) && made.input.desired!.parent === owner)
        add(deletion, creation)
    })
  })
}

function quorumInItsPlace(carried: readonly Difference[], actual: Actual, add: AddEdge): void {
  const quorum = carried.findIndex(({ kind }) => kind === QUORUM.kind)
  if (quorum < 0) return
  const members = new Set(referencesOf(carried[quorum]!.input.desired!.fields[QUORUM.members] ?? []))
  carried.forEach((one, index) => {
    if (one.action === 'create' && isCredential(one) && members.has(one.input.desired!.parent!)) add(quorum, index)
  })
  const deletions = carried.flatMap((one, index) => (one.action === 'delete' && isCredential(one) ? [index] : []))
  if (deletions.length === 0) return
  const gone = new Set(deletions.map((index) => carried[index]!.input.actual!.id))
  const left = new Set(
    actual.resources.filter((one) => isCredential(one) && !gone.has(one.id)).map((one) => one.parentId),
  )
  const old = quorumOf(
    actual.resources.find(({ kind }) => kind === QUORUM.kind),
    String,
  )
  if (old.members.filter((member) => left.has(member)).length >= old.threshold) return
  for (const index of deletions) {
    if (old.members.includes(carried[index]!.input.actual!.parentId!)) add(index, quorum)
  }
}

function ancestors(of: readonly number[], edges: readonly ReadonlySet<number>[]): ReadonlySet<number> {
  const found = new Set<number>()
  const open = [...of]
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (found.has(index)) continue
    found.add(index)
    open.push(...edges[index]!)
  }
  return found
}
