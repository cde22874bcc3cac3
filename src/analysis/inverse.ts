/**
 * The inverse of a plan: what puts an organization back as it was, drafted by the plan maker from the state after to the state before. What
 * is made again has another id, so that all that names the old one is rewritten. What nobody can put back is listed, and left out.
 */
import { draftSteps, type PlanSteps } from '../plan/index.ts'
import {
  type Actual,
  type Address,
  type Desired,
  type KindName,
  kinds,
  listOf,
  mentionsOf,
  organizationOf,
  type Resource,
  referTo,
  sameValue,
  type Value,
} from '../resources/index.ts'
import { keyOf } from './at.ts'

/** Something that nobody can put back. */
export interface Lost {
  readonly address: Address
  /** e.g. `its mnemonic goes with it, …`. */
  readonly why: string
}

export interface Inverse {
  readonly plan: PlanSteps
  readonly desired: Desired
  readonly lost: readonly Lost[]
  /** Why there is no such plan, where one cannot be made. */
  readonly unknown?: string
}

type Things = readonly Resource[]

/** Plans the way back from `after` to `before`; both are things as the plan leaves and finds them. */
export function inverseOf(
  { before, after }: { readonly before: Things; readonly after: Things },
  {
    actual,
    organization,
    baseUrl,
    now,
  }: { readonly actual: Actual } & Record<'organization' | 'baseUrl' | 'now', string>,
): Inverse {
  const { resources, lost, again } = wantedBack(before, after)
  const { organizationId } = actual
  const held = parentsOf(resources, after)
  const all = [...held, ...resources]
  const living = { ...actual, resources: again.length > 0 ? after : bearingOn(all, after) }
  const desired = { organization, organizationId, resources: all, manageAll: new Set<KindName>(), digest: '' }
  // Names may have passed on to other things: which live one is meant is told by its id.
  const rows = all.flatMap(({ address, id }) => (id === undefined ? [] : [[address, { id }] as const]))
  const addresses = new Set(all.map(({ address }) => address))
  const { diagnostics, ...plan } = draftSteps({
    desired: { ...desired, resources: all.map(({ id: _, parentId: __, ...one }) => one) },
    actual: living,
    lock: { [organizationId]: Object.fromEntries(rows) },
    creators: {},
    baseUrl,
    allow: [],
    now,
  })
  const fault = diagnostics.find(({ severity }) => severity === 'error')
  const unknown = addresses.size < all.length ? 'two of the things that it touches share an address' : fault?.message
  return {
    plan,
    desired,
    lost: [...lost, ...named(before, again)].sort((a, b) => (a.address < b.address ? -1 : 1)),
    ...(unknown === undefined ? {} : { unknown }),
  }
}

/** What has to be deleted, changed back and made again. Things that live keep their ids, the others have none. */
function wantedBack(before: Things, after: Things) {
  // States share what no activity touches.
  const [former, present] = [new Set(before), new Set(after)]
  const [old, touched] = [before.filter((one) => !present.has(one)), after.filter((one) => !former.has(one))]
  const [had, has] = [old, touched].map((things) => new Map(things.map((one) => [keyOf(one), one])))
  const added = touched.filter((one) => !had!.has(keyOf(one)))
  const removed = old.filter((one) => !has!.has(keyOf(one)))
  const lost: Lost[] = []
  const lostIds = lose(removed, before, lost)
  const again = removed.filter(({ id, parentId }) => !lostIds.has(id!) && !lostIds.has(parentId ?? ''))
  const addressesById = new Map(
    again.filter(({ kind }) => kinds[kind].referable).map(({ id, address }): [string, Address] => [id!, address]),
  )
  const restored = (one: Resource): Resource => {
    const fields = Object.entries(one.fields).map(([field, value]): [string, Value] => [
      field,
      referTo(
        Array.isArray(value) ? listOf(value).filter((member) => !lostIds.has(String(member))) : value,
        addressesById,
      ),
    ])
    const { known: _, ...rest } = one
    return { ...rest, fields: Object.fromEntries(fields) }
  }
  const addedIds = new Set(added.map(({ id }) => id))
  const tombstones = added.flatMap((one): readonly Resource[] => {
    // What its parent holds goes with it.
    if (one.parentId !== undefined && addedIds.has(one.parentId)) return []
    if (!kinds[one.kind].remove) {
      lost.push({ address: one.address, why: 'the API has no activity that deletes it' })
      return []
    }
    const { known: _, ...rest } = one
    return [
      { ...rest, tombstone: true, fields: kinds[one.kind].fields['withoutExport'] ? { withoutExport: true } : {} },
    ]
  })
  const isRemoved = new Set(removed)
  const changed = (addressesById.size > 0 ? before : old).flatMap((one): readonly Resource[] => {
    if (isRemoved.has(one)) return []
    const now = has!.get(keyOf(one)) ?? one
    const isSame = (field: string) =>
      sameValue(one.fields[field], now.fields[field], kinds[one.kind].fields[field]?.compare ?? 'exact')
    const fields = [...new Set([...Object.keys(one.fields), ...Object.keys(now.fields)])].filter(
      (field) => !isSame(field),
    )
    const namesAgain = addressesById.size > 0 && [...mentionsOf(one)].some((text) => addressesById.has(text))
    if (fields.length === 0 && one.name === now.name && !namesAgain) return []
    const back = fields.flatMap((field): readonly [string, Value][] => {
      if (one.fields[field] !== undefined) return []
      const { cleared, absent } = kinds[one.kind].fields[field] ?? {}
      const none = cleared ?? absent
      if (none !== undefined) return [[field, none]]
      lost.push({ address: one.address, why: `the API cannot take its \`${field}\` away again` })
      return []
    })
    return [restored({ ...one, fields: { ...one.fields, ...Object.fromEntries(back) } })]
  })
  const remade = again.map(({ id: _, parentId: __, ...one }) => restored(one))
  return { resources: [...tombstones, ...changed, ...remade], lost, again }
}

/** Tells which deleted things nobody can make again; what these hold goes without a word of its own. */
function lose(removed: Things, before: Things, lost: Lost[]): ReadonlySet<string> {
  const ids = new Set<string>()
  const told: { readonly one: Resource; readonly why: string }[] = []
  const lose = (one: Resource, why: string) => {
    ids.add(one.id!)
    told.push({ one, why })
  }
  if (removed.length === 0) return ids
  for (const one of removed) {
    const why = whyLost(one)
    if (why !== undefined) lose(one, why)
  }
  // Who has no way in is no user that the API makes.
  const waysIn = new Map(organizationOf(before).users.map(({ id, credentials }) => [id, credentials]))
  for (const one of removed) {
    const credentials = one.kind === 'user' ? (waysIn.get(one.id!) ?? []) : []
    if (credentials.length > 0 && credentials.every(({ facts }) => ids.has(facts.id ?? '')))
      lose(one, 'it has no way in but what only its user can register')
  }
  for (const { one, why } of told) {
    if (!ids.has(one.parentId ?? '')) lost.push({ address: one.address, why })
  }
  return ids
}

function whyLost(one: Resource): string | undefined {
  const { irreplaceable, uncreatable, create, fields } = kinds[one.kind]
  if (irreplaceable !== undefined) return irreplaceable
  if (!create) return 'the API has no activity that makes it'
  const untold = Object.entries(fields).find(([field, row]) => row.required && one.fields[field] === undefined)
  return uncreatable?.(one) ?? (untold && `the API does not tell its \`${untold[0]}\``)
}

/** What names things by ids for which no reference can stand. */
function named(before: Things, again: Things): readonly Lost[] {
  const ids = new Map(again.filter(({ kind }) => !kinds[kind].referable).map(({ id, address }) => [id!, address]))
  if (ids.size === 0) return []
  return before.flatMap((one) => {
    const id = one.kind === 'policy' ? [...mentionsOf(one)].find((text) => ids.has(text)) : undefined
    if (id === undefined) return []
    return [{ address: one.address, why: `it names ${ids.get(id)} by its id, and made again that has another` }]
  })
}

/**
 * Of what lives, what can bear on a plan that makes nothing again: what it touches, found by id, and, where it touches the root quorum, by
 * what its members come in. What is made again may be known by its name, or refer to anything.
 */
function bearingOn(all: Things, after: Things): Things {
  const ids = new Set(all.map(({ id }) => id))
  const touched = after.filter(({ id }) => ids.has(id))
  const quorum = touched.find(({ kind }) => kind === 'rootQuorum')
  if (!quorum) return touched
  const members = new Set(listOf(quorum.fields['users']).map(String))
  return after.filter(
    ({ id, kind, parentId = '' }) => ids.has(id) || (kinds[kind].credential !== undefined && members.has(parentId)),
  )
}

/** The parents that live, of all these, as they are. */
function parentsOf(resources: Things, after: Things): Things {
  const given = new Set(resources.map(({ address }) => address))
  const wanted = new Set(resources.flatMap(({ parent }) => (parent === undefined || given.has(parent) ? [] : [parent])))
  const found = after.filter(({ address }) => wanted.has(address))
  if (found.length === 0) return []
  return [...parentsOf([...found, ...resources], after), ...found]
}
