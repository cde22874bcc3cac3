import { makePlan, type Plan } from '../plan/index.ts'
import { fromTimestamp, type Wire } from '../protocol/index.ts'
import {
  type Actual,
  type Address,
  formatAddress,
  type KindName,
  kinds,
  type Resource,
  referTo,
} from '../resources/index.ts'
import { type Before, beforeOf, type LeftToPeople } from './before.ts'
import { credentialsMadeBy } from './made.ts'
import { idsCreatedBy, isDoneBy, type LeftBehind, type Suspect } from './trace.ts'

/** What lets people in, or lets them act: an attacker's way back. */
const DELETED: readonly KindName[] = ['policy', 'user', 'apiKey', 'authenticator', 'oauthProvider']

/** A plan that takes back what a suspect did, and what it leaves to people. */
export interface Revert {
  /** Deletes what was made, sets back what was changed, makes again what was deleted; undefined where there is nothing to do. */
  readonly plan?: Plan
  readonly leaves: readonly LeftToPeople[]
}

export interface RevertInput {
  readonly actual: Actual
  /** All on record. */
  readonly activities: readonly Wire.Activity[]
  readonly suspect: Suspect
  /** Milliseconds since the epoch; what was asked for before is not taken back. */
  readonly since?: number | undefined
  readonly baseUrl: string
  readonly now: string
  /** Bypasses of guards. */
  readonly allow: readonly string[]
}

/**
 * Plans back to the state before a suspect's activities. It is a plan like any other: it is stale when what it changes has changed,
 * and guards stop it. Nobody applies it but a person.
 */
export function planRevert(left: readonly LeftBehind[], input: RevertInput): Revert {
  const { actual, activities, suspect, since = 0, baseUrl, now, allow } = input
  const live = new Map(actual.resources.map((one) => [one.address, one]))
  const made = left.flatMap(({ address, did }) => (did === 'made' ? (live.get(address) ?? []) : []))
  const isSuspects = (activity: Wire.Activity) =>
    fromTimestamp(activity.createdAt) >= since && isDoneBy(activity, suspect)
  // What it made and deleted again lives no more, and is not to live again.
  const madeIds = new Set([...made.map(({ id }) => id!), ...activities.filter(isSuspects).flatMap(idsCreatedBy)])
  const before = beforeOf(actual, {
    activities,
    nowMs: Date.parse(now),
    isSuspects,
    isOwn: ({ id, parentId, fields }) =>
      suspect.publicKey === undefined
        ? id === suspect.userId || parentId === suspect.userId
        : fields['publicKey'] === suspect.publicKey.toLowerCase(),
    isMade: ({ id, parentId }) => madeIds.has(id!) || madeIds.has(parentId ?? ''),
  })
  const goes = made.filter(({ kind }) => DELETED.includes(kind) && kinds[kind].remove !== undefined)
  const gone = new Set(goes.map(({ id }) => id!))
  // What is deleted with its user is no deletion of its own.
  const tombstones = goes
    .filter(({ parentId }) => !gone.has(parentId ?? ''))
    .map((one): Resource => ({ ...declared(one), tombstone: true }))
  const restored = restore(before, actual)
  const leaves = [
    ...made
      .filter((one) => !goes.includes(one))
      .map(({ address }) => ({ what: address, why: 'it was made, and is left' })),
    ...before.leaves,
    ...ofKeysMade(input),
  ]
  if (tombstones.length + restored.length === 0) return { leaves }
  const acting = [...tombstones, ...restored]
  const resources = [...acting, ...bystanders(acting, { actual, gone })]
  const { organizationId, organizationName: organization } = actual
  // The lock says which live things are meant, though the suspect may have given others the same name since.
  const of = new Set([...resources.map(({ address }) => address), ...resources.flatMap(({ parent }) => parent ?? [])])
  const rows = Object.fromEntries([...of].flatMap((one) => (live.has(one) ? [[one, { id: live.get(one)!.id! }]] : [])))
  const has = new Set(resources.map(({ address }) => address))
  const desired = {
    organization,
    organizationId,
    resources,
    manageAll: new Set<KindName>(),
    // Each deletion is of something that the suspect made: their share of what lives says nothing.
    deleteLimits: Object.fromEntries(DELETED.map((kind) => [kind, 100])),
    forget: Object.keys(rows).filter((address) => !has.has(address)),
    digest: '',
  }
  const lock = { [organizationId]: rows }
  const { plan, diagnostics } = makePlan({ desired, actual, lock, creators: {}, baseUrl, now, allow })
  const faults = diagnostics.filter(({ severity }) => severity === 'error').map(leftBy)
  if (faults.length > 0) return { leaves: [...faults, ...leaves] }
  return { ...(plan.changes.length > 0 ? { plan } : {}), leaves }
}

/** Keys that the suspect made and that did something since: each is a suspect of its own, of whom this plan knows nothing. */
function ofKeysMade({ activities, suspect, since = 0 }: RevertInput): readonly LeftToPeople[] {
  const done = activities.filter(({ status }) => status === 'ACTIVITY_STATUS_COMPLETED')
  const [theirs, others] = [true, false].map((is) => done.filter((one) => isDoneBy(one, suspect) === is))
  const made = theirs!.filter(({ updatedAt }) => fromTimestamp(updatedAt) >= since).flatMap(credentialsMadeBy)
  const keys = new Set(made.flatMap(({ publicKeys }) => publicKeys))
  const acted = new Set(others!.flatMap(({ votes }) => votes.map(({ publicKey }) => publicKey.toLowerCase())))
  return [...keys].flatMap((key) => {
    if (!acted.has(key)) return []
    const why = `the suspect made it, and what was done with it is not in this plan: \`quorate incident key ${key}\``
    return [{ what: `API key ${key}`, why }]
  })
}

/** Things as they were, with references to what is made again in place of its former ids. */
function restore({ changed, deleted }: Before, actual: Actual): readonly Resource[] {
  const byId = new Map(actual.resources.map((one) => [one.id!, one]))
  const again = new Map(
    deleted.map(({ id, kind, name, parentId }) => {
      const parent = byId.get(parentId ?? '') ?? deleted.find((one) => one.id === parentId)
      return [id!, { parent: parent?.address, address: formatAddress(kind, ...(parent ? [parent.name] : []), name) }]
    }),
  )
  const addresses = new Map([...again].map(([id, { address }]) => [id, address]))
  const fieldsOf = (was: Resource, isNew: boolean): Resource['fields'] => {
    const rows = kinds[was.kind].fields
    const wanted = Object.entries(was.fields).filter(
      ([field]) => field !== 'name' && rows[field] && (isNew || rows[field].immutable === undefined),
    )
    return Object.fromEntries(wanted.map(([field, value]) => [field, referTo(value, addresses)]))
  }
  return [
    ...changed.map(({ live, was }) => ({ ...declared(live), name: was.name, fields: fieldsOf(was, false) })),
    ...deleted.map((was): Resource => {
      const { address, parent } = again.get(was.id!)!
      const { kind, name } = was
      return { address, kind, name, fields: fieldsOf(was, true), ...(parent === undefined ? {} : { parent }) }
    }),
  ]
}

/**
 * Credentials of the users that the plan touches, and of all where it touches the root quorum, but for those that the suspect made: a
 * revert knows them, so that they are no strays in the quorum (`exclusive-credentials`).
 */
function bystanders(
  acting: readonly Resource[],
  { actual, gone }: { readonly actual: Actual; readonly gone: ReadonlySet<string> },
): readonly Resource[] {
  const has = new Set<Address>(acting.map(({ address }) => address))
  const owners = new Set(acting.flatMap(({ parent }) => (parent === undefined || has.has(parent) ? [] : [parent])))
  const ofAll = acting.some(({ kind }) => kind === 'rootQuorum')
  // Whose credential alone is deleted stays: without a definition the user would be handed back, and the credential with it.
  const found = new Map<Address, Resource>(
    actual.resources.flatMap((one) => (owners.has(one.address) ? [[one.address, declared(one)] as const] : [])),
  )
  for (const one of actual.resources) {
    const { kind, parent, parentId, id } = one
    if (!kinds[kind].credential || parent === undefined || gone.has(id!) || gone.has(parentId!)) continue
    if (!ofAll && !has.has(parent) && !owners.has(parent)) continue
    const user = actual.resources.find((other) => other.address === parent)
    for (const thing of user ? [user, one] : []) if (!has.has(thing.address)) found.set(thing.address, declared(thing))
  }
  return [...found.values()]
}

/** A live thing as a definition that asks for nothing of it. */
function declared({ address, kind, name, parent }: Resource): Resource {
  return { address, kind, name, fields: {}, ...(parent === undefined ? {} : { parent }) }
}

function leftBy({ message }: { readonly message: string }): LeftToPeople {
  return { what: 'the plan', why: message }
}
