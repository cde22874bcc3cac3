/**
 * Plans what is inside sub-organizations: each with a plan of its own, made with a key of one of its users. Where no such key
 * is at hand, what is inside is read with the parent's key and compared, and the plan says who could apply it.
 */
import { inTurns, type ReadOnce } from '../../activities/index.ts'
import { planWithForecast } from '../analysis/index.ts'
import type { QueryClient } from '../client/index.ts'
import { type Diagnostic, diagnostic, QuorateError } from '../diagnostics/index.ts'
import { actorIn, creatorsOf, inside, kindsMentioned, readInside, type WantedSubOrganization } from '../live/index.ts'
import {
  type CreatedBy,
  foresee,
  isForgotten,
  type Lock,
  type LockRows,
  type Made,
  makePlan,
  type Plan,
  type PlanInput,
  sealed,
} from '../plan/index.ts'
import {
  type Actual,
  type Desired,
  formatAddress,
  listOf,
  parseAddress,
  type Resource,
  type SubOrganization,
} from '../resources/index.ts'
import { keyInside } from './clients.ts'
import type { Place } from './place.ts'
import { withRejectionsInside } from './rejections.ts'

/** Sub-organizations that are read at the same time; their parent's rate holds for all of them together. */
const AT_ONCE = 4

export interface InsideInput extends Pick<PlanInput, 'allow' | 'baseUrl' | 'now' | 'lockPlaces' | 'isLockVouchedFor'> {
  readonly desired: Desired
  /** The parent as it lives, its lock before its plan, and what works out the one after it. */
  readonly actual: Actual
  readonly oldLock: Lock
  readonly lock: () => Lock
  /** What was carried out since the lock was written, by organization id. @default nothing */
  readonly made?: ReadonlyMap<string, readonly Made[]>
  /** The creators of the parent's resources. */
  readonly creators: ReadonlyMap<string, CreatedBy>
  readonly place: Pick<Place, 'subOrganizationKeys'>
  readonly client: QueryClient
  /** Submits once more what was rejected (`--ask-again`). @default false */
  readonly askAgain?: boolean
  /** @default each is read */
  readonly readOnce?: ReadOnce
}

export interface PlannedInside {
  readonly plans: readonly Plan[]
  readonly diagnostics: readonly Diagnostic[]
  /** Works out the lock of the parent's plan with what was found inside. */
  readonly lock: () => Lock
}

/**
 * What to look for in the parent: the sub-organizations that definitions speak of, under old names as well, and those
 * that they spoke of before, as the lock says.
 */
export function wantedOf(
  { organizationId, resources, subOrganizations = [] }: Desired,
  lock: Lock,
): readonly WantedSubOrganization[] {
  const kind = 'subOrganization'
  const rows = lock[organizationId] ?? {}
  const former = new Map(resources.map((one) => [`${one.kind} ${one.name}`, one.renamedFrom]))
  const spoken = subOrganizations.flatMap(({ organization }) => [organization, former.get(`${kind} ${organization}`)])
  const locked = Object.keys(rows).flatMap((address) => {
    const parsed = parseAddress(address)
    return parsed?.kind === kind ? parsed.names : []
  })
  const names = new Set([...spoken, ...locked].filter((name) => name !== undefined))
  return [...names].map((name): WantedSubOrganization => {
    const id = rows[formatAddress(kind, name)]?.id
    return { name, ...(id === undefined ? {} : { id }) }
  })
}

/** Data of the parent that every sub-organization needs, read once. */
interface ParentInput extends Omit<InsideInput, 'lock'> {
  /** The parent's rows of the lock after its plan. */
  readonly ownRows: LockRows
  /** The sub-organizations that live, by their ids, and the ids that the parent's lock held. */
  readonly byId: ReadonlyMap<string, Resource>
  readonly known: ReadonlySet<string>
}

/** Reads and plans them all, or throws: a part of what is inside must never pass for all of it. */
export async function planInside(input: InsideInput): Promise<PlannedInside> {
  const {
    desired: { subOrganizations = [] },
    actual,
    lock,
  } = input
  const lives = actual.resources.filter(({ kind }) => kind === 'subOrganization')
  const known = Object.values(input.oldLock[actual.organizationId] ?? {}).flatMap(({ id }) => id ?? [])
  const parent = {
    ...input,
    ownRows: (subOrganizations.length > 0 && lock()[actual.organizationId]) || {},
    byId: new Map(lives.map((one) => [one.id!, one])),
    known: new Set(known),
  }
  const found = await inTurns(subOrganizations, AT_ONCE, (sub) => planOne(parent, sub))
  return {
    plans: found.flatMap(({ plan }) => plan ?? []),
    diagnostics: found.flatMap(({ diagnostics }) => diagnostics),
    lock: () => lockWith(found, input, parent),
  }
}

/** The lock of the parent's plan with the rows of what was found inside. */
function lockWith(
  found: readonly PlannedOne[],
  { desired, actual, oldLock, lock }: InsideInput,
  { byId, known }: ParentInput,
): Lock {
  const rows: Record<string, LockRows> = { ...lock() }
  for (const one of found) {
    const within = one.lock?.rows()
    if (within) rows[one.lock!.id] = within
  }
  // Until it is gone, what is to be deleted is known to be ours by the parent's row alone.
  const own = { ...rows[actual.organizationId] }
  const kept = new Set(Object.values(own).map(({ id }) => id))
  for (const [address, row] of Object.entries(oldLock[actual.organizationId] ?? {})) {
    if (row.id === undefined || !byId.has(row.id) || isForgotten(desired, address) || kept.has(row.id)) continue
    own[address] = row
    kept.add(row.id)
  }
  rows[actual.organizationId] = own
  // What is gone or handed back needs no lock of its own any more.
  for (const id of known) if (!kept.has(id)) delete rows[id]
  return rows
}

interface PlannedOne {
  readonly plan?: Plan
  readonly diagnostics: readonly Diagnostic[]
  /** Its id where it lives and stays, and what works out its rows of the lock. */
  readonly lock?: { readonly id: string; readonly rows: () => LockRows | undefined }
}

async function planOne(input: ParentInput, sub: SubOrganization): Promise<PlannedOne> {
  const { place, oldLock } = input
  const [itself] = sub.resources
  const isTombstone = itself?.kind === 'subOrganization'
  const live = isTombstone ? liveOf(input, itself) : liveByLock(input, sub)
  if (live === 'ambiguous') return { diagnostics: [ambiguous(sub.organization, itself!)] }
  if (!live && isTombstone) return { diagnostics: [] }
  const key = await keyInside(place, sub.organization)
  const actual = await readOne(input, {
    sub,
    live: live || undefined,
    publicKey: (key ?? input.actual.actor).publicKey,
  })
  const acts = actual.actor.userId !== input.actual.actor.userId
  if (key && !acts) throw foreignKey(sub.organization, key.publicKey)
  // What is inside one that is to be deleted goes with it, so that nothing of it counts as taken out.
  const rows = isTombstone ? undefined : oldLock[actual.organizationId]
  const within: PlanInput = {
    desired: { ...sub, organizationId: actual.organizationId },
    actual: isTombstone ? { ...actual, resources: [...actual.resources, { ...live!, id: live!.id! }] } : actual,
    // Its own part: of thousands, each would go through the lock of all of them.
    lock: rows ? { [actual.organizationId]: rows } : {},
    made: isTombstone ? [] : (input.made?.get(actual.organizationId) ?? []),
    ...(input.lockPlaces ? { lockPlaces: input.lockPlaces } : {}),
    isLockVouchedFor: input.isLockVouchedFor !== false,
    creators: live && acts ? await creatorsInside(input, live, actual) : trusted(actual),
    baseUrl: input.baseUrl,
    allow: input.allow,
    now: input.now,
  }
  if (!acts) {
    const { plan, diagnostics } = makePlan(within)
    const compared: Plan = { ...plan, comparedOnly: { couldApply: membersOf(actual) } }
    return { plan: sealed(isTombstone ? { ...compared, unmanaged: [] } : compared), diagnostics }
  }
  const { plan: made, diagnostics, lock } = planWithForecast(within)
  // What it holds goes with it.
  const whole = isTombstone ? sealed({ ...made, unmanaged: [] }) : made
  const plan = await withRejectionsInside(input.client, whole, { askAgain: input.askAgain ?? false })
  if (!live || isTombstone) return { plan, diagnostics }
  return { plan, diagnostics, lock: { id: live.id!, rows: () => lock()[actual.organizationId] } }
}

/** What lives, or what will live once it is made. */
async function readOne(
  { client, actual: parent, oldLock, readOnce = (_, read) => read() }: ParentInput,
  {
    sub,
    live,
    publicKey,
  }: { readonly sub: SubOrganization; readonly live: Resource | undefined; readonly publicKey: string },
): Promise<Actual> {
  if (live) {
    const place = { id: live.id!, name: live.name }
    const mentioned = kindsMentioned(sub, oldLock[live.id!])
    const asked = JSON.stringify([place.id, publicKey, ...[...mentioned].sort()])
    return readOnce(asked, () =>
      readInside(client, place, { publicKey, reader: parent.actor, mentioned, sparing: true }),
    )
  }
  const foreseen = foresee(sub, parent.actor)
  return { ...foreseen, actor: actorIn(foreseen.resources, publicKey) ?? parent.actor }
}

/** The live one that the parent's plan has found. */
function liveByLock({ ownRows, byId }: ParentInput, { organization }: SubOrganization): Resource | undefined {
  const id = ownRows[formatAddress('subOrganization', organization)]?.id
  return id === undefined ? undefined : byId.get(id)
}

/** The live one that is to go: by its id when it was known, and otherwise the only one of its name. */
function liveOf(
  { actual, oldLock }: Pick<InsideInput, 'actual' | 'oldLock'>,
  { address, name }: Resource,
): Resource | undefined | 'ambiguous' {
  const all = actual.resources.filter(({ kind }) => kind === 'subOrganization')
  const id = oldLock[actual.organizationId]?.[address]?.id
  const known = all.find((one) => one.id === id)
  if (known) return known
  const same = all.filter((one) => one.name === name)
  return same.length > 1 ? 'ambiguous' : same[0]
}

/**
 * The parent, and its lock, without what is to be deleted inside: that is no change of the parent's, and nothing unmanaged
 * or removed either. Its own plan deletes it.
 */
export function withoutTombstones(input: Pick<InsideInput, 'actual' | 'oldLock' | 'desired'>): {
  readonly actual: Actual
  readonly lock: Lock
} {
  const { actual, desired, oldLock } = input
  const tombstones = (desired.subOrganizations ?? []).flatMap(({ resources: [itself] }) =>
    itself?.kind === 'subOrganization' ? [itself] : [],
  )
  if (tombstones.length === 0) return { actual, lock: oldLock }
  const going = new Set(tombstones.map((itself) => liveOf(input, itself)))
  const ids = new Set([...going].flatMap((one) => (typeof one === 'object' ? [one.id] : [])))
  const addresses = new Set(tombstones.map(({ address }) => address))
  const rows = Object.entries(oldLock[actual.organizationId] ?? {}).filter(
    ([address, { id }]) => !addresses.has(address) && (id === undefined || !ids.has(id)),
  )
  return {
    actual: { ...actual, resources: actual.resources.filter((one) => !going.has(one)) },
    lock: { ...oldLock, [actual.organizationId]: Object.fromEntries(rows) },
  }
}

function ambiguous(name: string, { span }: Resource): Diagnostic {
  return diagnostic('plan/ambiguous', `several live sub-organizations are called \`${name}\``, span!, {
    help: 'write the id of the one that is meant into the lock file',
  })
}

function foreignKey(name: string, publicKey: string): QuorateError {
  return new QuorateError(
    'cli/foreign-key',
    `the key given for sub-organization \`${name}\` is that of none of its users`,
    {
      facts: { publicKey, submitted: 'nothing' },
      next: 'give a key of one of its users, or remove the file: then what is inside is compared and left alone',
    },
  )
}

/**
 * Who created what is inside. No activity there tells of what came with its creation; that is as trusted as the
 * sub-organization is, which its parent's plan has looked at.
 */
async function creatorsInside(
  { actual: parent, known, oldLock, isLockVouchedFor = true, creators, client }: ParentInput,
  live: Resource,
  actual: Actual,
): Promise<ReadonlyMap<string, CreatedBy>> {
  const creator = creators.get(live.id!)
  const ours = (isLockVouchedFor && known.has(live.id!)) || creator?.userId === parent.actor.userId
  const founder = ours ? actual.actor : creator
  return creatorsOf(inside(client, live.id!), actual, isLockVouchedFor ? oldLock : {}, founder ? { founder } : {})
}

/**
 * Names the actor as the creator of everything: used where nothing is applied, or nothing exists yet that could be
 * planted.
 */
function trusted({ resources, actor }: Actual): ReadonlyMap<string, CreatedBy> {
  return new Map(resources.map(({ id }) => [id!, actor]))
}

function membersOf({ resources }: Actual): readonly string[] {
  const members = new Set(listOf(resources.find(({ kind }) => kind === 'rootQuorum')?.fields['users']))
  return resources
    .filter(({ kind, id }) => kind === 'user' && members.has(id!))
    .map(({ name }) => name)
    .toSorted()
}
