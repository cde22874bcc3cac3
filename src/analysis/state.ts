/**
 * The organization as the batches of a plan leave it, one after another. What a plan creates has no id yet, so each such
 * address gets a stand-in of the same form, the same one wherever it is referred to; none of them is ever shown.
 */
import type { Batch, Plan } from '../plan/index.ts'
import {
  type Actual,
  type Address,
  type Desired,
  type KindName,
  kinds,
  type Resource,
  referencesOf,
  resolveValue,
  type Value,
} from '../resources/index.ts'

export interface OrganizationState {
  readonly things: readonly Resource[]
}

/** Live ids and stand-ins, by address. */
export type StandIns = Readonly<Record<Address, string>>

/** The state before the first batch. */
export function startState(actual: Actual): OrganizationState {
  return { things: actual.resources }
}

/**
 * An id for every address that what a plan changes speaks of: the live one where it is known. `series` tells the stand-ins of one plan
 * from another's.
 */
export function standIns(
  plan: Pick<Plan, 'changes' | 'ids'>,
  desired: Desired,
  series: `4${string}` = '4000',
): StandIns {
  const changed = new Set(plan.changes.map(({ address }) => address))
  const ids = standInsFor(
    desired.resources.filter(({ address }) => changed.has(address)),
    series,
  )
  for (const { address, id } of plan.changes) if (id !== undefined) ids[address] = id
  return Object.assign(ids, plan.ids)
}

/** Stand-ins for resources, what holds them and what they refer to, in the order of the addresses. */
function standInsFor(resources: readonly Resource[], series: `4${string}`): Record<Address, string> {
  const addresses = new Set(
    resources.flatMap(({ address, parent, fields }) => [address, ...(parent ? [parent] : []), ...referencesOf(fields)]),
  )
  const ids: Record<Address, string> = {}
  ;[...addresses].sort().forEach((address, index) => {
    ids[address] = `00000000-0000-${series}-8000-${index.toString(16).padStart(12, '0')}`
  })
  return ids
}

/** What definitions declare as it would live in an organization that has nothing else, with stand-ins for ids. */
export function declaredThings(desired: Desired): readonly Resource[] {
  const ids = standInsFor(desired.resources, '4000')
  return desired.resources.flatMap((one) => (one.tombstone ? [] : [createdThing(one, ids)]))
}

/** Makes the step from one state to the next: the state after a batch of this plan has completed. */
export function createCarrier({
  plan,
  desired,
  ids,
}: {
  readonly plan: Pick<Plan, 'changes'>
  readonly desired: Desired
  readonly ids: StandIns
}): (state: OrganizationState, batch: Pick<Batch, 'index'>) => OrganizationState {
  const declared = new Map(desired.resources.map((one) => [one.address, one]))
  const changesOf = Map.groupBy(plan.changes, ({ batch }) => batch)
  return (state, batch) => {
    let things = [...state.things]
    for (const change of changesOf.get(batch.index) ?? []) {
      const resource = declared.get(change.address)
      if (change.action === 'delete') things = withoutThing(things, change.kind, change.id!)
      else if (change.action === 'create') things.push(createdThing(resource!, ids))
      else if (change.action === 'update') {
        const fields = change.fields.map(({ field }) => field)
        things = things.map((one) =>
          one.kind === change.kind && one.id === change.id ? updatedThing(one, resource!, fields, ids) : one,
        )
      }
    }
    return { things }
  }
}

/** Things of a kind, in a state. */
export function thingsOf({ things }: OrganizationState, kind: KindName): readonly Resource[] {
  return things.filter((one) => one.kind === kind)
}

function createdThing(resource: Resource, ids: StandIns): Resource {
  const { address, kind, name, parent } = resource
  const id = kinds[kind].referable || kinds[kind].parent ? ids[address]! : name
  const fields = { ...resolved(resource, ids), name }
  return { address, kind, name, id, fields, ...(parent === undefined ? {} : { parent, parentId: ids[parent]! }) }
}

function updatedThing(live: Resource, resource: Resource, fields: readonly string[], ids: StandIns): Resource {
  const wanted: Readonly<Record<string, Value>> = { name: resource.name, ...resolved(resource, ids) }
  const taken = fields.map((field) => [field, wanted[field] ?? null] as const)
  const renamed = fields.includes('name') ? { name: resource.name } : {}
  return { ...live, ...renamed, fields: { ...live.fields, ...Object.fromEntries(taken) } }
}

/** Takes a thing away with all that it holds, and out of the lists that name it (a deleted tag leaves its users). */
function withoutThing(things: readonly Resource[], kind: KindName, id: string): Resource[] {
  return things
    .filter((one) => !(one.kind === kind && one.id === id) && one.parentId !== id)
    .map((one) => (namesMember(one, id) ? { ...one, fields: withoutMember(one.fields, id) } : one))
}

function namesMember({ fields }: Resource, id: string): boolean {
  return Object.values(fields).some((value) => Array.isArray(value) && value.includes(id))
}

function withoutMember(fields: Resource['fields'], id: string): Resource['fields'] {
  const entries = Object.entries(fields).map(([field, value]): [string, Value] => [
    field,
    Array.isArray(value) ? (value as readonly Value[]).filter((member) => member !== id) : value,
  ])
  return Object.fromEntries(entries)
}

function resolved({ fields }: Resource, ids: StandIns): Readonly<Record<string, Value>> {
  return resolveValue(fields, ids) as Readonly<Record<string, Value>>
}
