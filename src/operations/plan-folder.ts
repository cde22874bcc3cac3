import { join, relative, sep } from 'node:path'
import { createPlanStore, type MadeByRuns, type ReadOnce, readMade, withRejections } from '../../activities/index.ts'
import { planWithForecast } from '../analysis/index.ts'
import type { QueryClient } from '../client/index.ts'
import {
  checkUnknownIds,
  type FolderReader,
  LOCK_FILE,
  loadDefinitions,
  lockText,
  parseLock,
  type ReadLock,
  readLock,
  type WatchSettings,
} from '../definitions/index.ts'
import { type Diagnostic, hasErrors, QuorateError, suggest } from '../diagnostics/index.ts'
import { creatorsOf, inside, kindsMentioned, readActual } from '../live/index.ts'
import { isInPart, type Lock, type Plan, withInside } from '../plan/index.ts'
import type { Actual, Address, Desired } from '../resources/index.ts'
import { changesSince, commitOf } from './commit-of.ts'
import { compromisedIn, compromisedKeys } from './compromised-keys.ts'
import { withAuthors } from './drift-authors.ts'
import { assertSameOrganization, type GivenValues, loadFolder } from './load-folder.ts'
import { type CheckText, findLockPlace, type LockPlace, shownFolder, writeLockAt } from './lock-place.ts'
import { isVouchedFor } from './lock-signature.ts'
import type { Place } from './place.ts'
import { planInside, wantedOf, withoutTombstones } from './plan-inside.ts'
import { userCalled } from './user-called.ts'

/** What is planned: a folder of definitions, for whom, and what was told with it. */
export interface PlanRequest {
  readonly folder: string
  readonly place: Place
  readonly client: QueryClient
  /** The values of `${env.…}` and `${var.…}`. */
  readonly given: GivenValues
  readonly dataDir: string
  /** The rate that is set, which the plan says. */
  readonly requestsPerSecond?: number | undefined
  /** Bypasses of guards. */
  readonly allow: readonly string[]
  /** Addresses to plan alone, with what they need. @default everything */
  readonly targets?: readonly Address[]
  /** What was rejected is asked once more. */
  readonly askAgain: boolean
  /** The name of another user who the plan is made for. */
  readonly as?: string
  /** Definitions that were kept, in place of those on the disk. */
  readonly kept?: KeptDefinitions
}

export interface KeptDefinitions {
  readonly readFolder: FolderReader
  /** A lock that somebody has vouched for. */
  readonly lock: Lock
  /** The lock file as it was kept with the definitions: it counts in place of `lock` where somebody vouches for it. */
  readonly lockText?: string | undefined
  /** The Git commit that they are. */
  readonly commit?: string | undefined
  /** Reads inside a sub-organization, unless that was read before. @default everything is read */
  readonly readOnce?: ReadOnce
}

/** What is told while a plan is made. */
export type PlanEvent =
  /** What is wrong with the definitions, the lock or both beside what lives; with an error among them there is no plan. */
  | { readonly kind: 'diagnostics'; readonly diagnostics: readonly Diagnostic[] }
  /** How many queries were asked so far. */
  | { readonly kind: 'asked'; readonly queries: number }

/** A plan with what it was made from. */
export interface Planned {
  readonly plan: Plan
  readonly desired: Desired
  readonly actual: Actual
  /** Works out the lock that is right once nothing is left to do. */
  readonly lock: () => Lock
  /** The lock as it was read, where somebody vouches for it; else an empty one. */
  readonly vouched: Lock
  /** What the definitions say of how they are watched. */
  readonly watch?: WatchSettings
  readonly lockPlace: LockPlace
  readonly made: MadeByRuns
  /** Of `vouched`; kept where the lock is the same still: signed anew, it would be another file each time. */
  readonly signature?: string
}

/** Definitions and live state become a plan with forecasts; undefined when the definitions have errors, which are told. */
export async function planFolder(request: PlanRequest, tell: (event: PlanEvent) => void): Promise<Planned | undefined> {
  const { folder, place, given, dataDir, askAgain, targets } = request
  const client = countQueries(request.client, (queries) => tell({ kind: 'asked', queries }))
  /** Whether one may go on. */
  const isSound = (diagnostics: readonly Diagnostic[]) => {
    tell({ kind: 'diagnostics', diagnostics })
    return !hasErrors(diagnostics)
  }
  const { kept } = request
  const loaded = await (kept
    ? loadDefinitions(folder, { ...given, readFolder: kept.readFolder })
    : loadFolder(folder, given))
  if (!isSound(loaded.diagnostics) || !loaded.desired) return undefined
  const { desired } = loaded
  assertSameOrganization(desired, place, {
    undone: 'submitted',
    next: 'correct `id:` in the definitions, or the organization id in the settings; one of another data folder is found with --data-dir',
  })
  if (!isSound(compromisedIn(desired, await compromisedKeys(dataDir)))) return undefined
  const lockPlace = await findLockPlace(folder, { place, dataDir })
  const keptLock: ReadLock = { lock: kept?.lock ?? {}, places: {}, diagnostics: [] }
  const offered = kept?.lockText === undefined ? keptLock : parseLock(join(folder, LOCK_FILE), kept.lockText)
  const found = kept ? offered : await readLock(shownFolder(lockPlace.folder))
  if (!isSound(found.diagnostics)) return undefined
  const subOrganizations = wantedOf(desired, found.lock)
  const read = await readActual(client, {
    mentioned: kindsMentioned(desired, found.lock[desired.organizationId]),
    ...(subOrganizations.length > 0 ? { subOrganizations } : {}),
  })
  const actual = actingAs(read, request.as)
  isSound(checkUnknownIds(desired, actual))
  const isOffered =
    kept?.lockText !== undefined && Object.keys(offered.lock).length > 0 && isVouchedFor(offered, actual)
  const oldLock = kept && !isOffered ? keptLock : found
  const made = await readMade(createPlanStore(join(dataDir, 'plans')), {
    clientOf: (organizationId) => (organizationId === place.organizationId ? client : inside(client, organizationId)),
    baseUrl: place.baseUrl,
  })
  const isLockVouchedFor = kept !== undefined || lockPlace.isPrivate || isVouchedFor(oldLock, actual)
  const creators = await creatorsOf(client, actual, isLockVouchedFor ? oldLock.lock : {})
  const common = { baseUrl: place.baseUrl, allow: request.allow, now: new Date().toISOString() }
  const own = planWithForecast(
    {
      ...common,
      desired,
      ...withoutTombstones({ actual, desired, oldLock: oldLock.lock }),
      lockPlaces: oldLock.places,
      made: made.byOrganization.get(actual.organizationId) ?? [],
      isLockVouchedFor,
      creators,
      ...(targets ? { targets } : {}),
    },
    { folder: relative(process.cwd(), folder).replaceAll(sep, '/') || '.' },
  )
  const within = targets
    ? { plans: [], diagnostics: [], lock: own.lock }
    : await planInside({
        ...common,
        desired,
        actual,
        oldLock: oldLock.lock,
        lockPlaces: oldLock.places,
        made: made.byOrganization,
        isLockVouchedFor,
        lock: own.lock,
        creators,
        place,
        client,
        askAgain,
        ...(kept?.readOnce ? { readOnce: kept.readOnce } : {}),
      })
  if (!isSound([...own.diagnostics, ...within.diagnostics])) return undefined
  const { requestsPerSecond: perSecond } = request
  const asked = await withRejections(client, own.plan, { askAgain })
  const told = await withAuthors(client, asked, { lock: oldLock.lock, actual, own: made.activities })
  const plans: Plan[] = []
  for (const one of within.plans)
    plans.push(await withAuthors(client, one, { lock: oldLock.lock, own: made.activities }))
  const commit = kept ? kept.commit : commitOf(folder)
  const changed = kept || commit === undefined ? {} : await changesSince(folder)
  const located = commit === undefined ? told : { ...told, commit, ...changed }
  const plan = withInside(located, plans, {
    reads: client.queries,
    ...(perSecond === undefined ? {} : { perSecond }),
  })
  const signature = isLockVouchedFor ? oldLock.signature : undefined
  return {
    plan,
    desired,
    actual,
    lock: within.lock,
    vouched: isLockVouchedFor ? oldLock.lock : {},
    lockPlace,
    made,
    ...(loaded.watch ? { watch: loaded.watch } : {}),
    ...(signature === undefined ? {} : { signature }),
  }
}

/** The organization as another user would find it: with `--as`, a key that may only read says what a plan means for the one that applies it. */
function actingAs(actual: Actual, called: string | undefined): Actual {
  if (called === undefined) return actual
  const user = userCalled(actual, called)
  const [key] = actual.resources
    .filter(({ kind, parentId }) => kind === 'apiKey' && parentId === user?.id)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  if (user?.id === undefined || key === undefined) {
    const names = actual.resources.filter(({ kind }) => kind === 'user').map(({ name }) => name)
    const meant = suggest(called, names)
    throw new QuorateError('cli/usage', `expected --as to be a user with an API key, got \`${called}\``, {
      next: meant.length > 0 ? `did you mean ${meant.map((name) => `\`${name}\``).join(' or ')}?` : 'name a live user',
    })
  }
  return { ...actual, actor: { userId: user.id, userName: user.name, publicKey: String(key.fields['publicKey']) } }
}

/**
 * Writes which live thing each name means beside the definitions, signed, once nothing is left to do. After a plan of a part, runs
 * that changed anything else stay unsettled: what they made, and still may, is no part of that lock.
 * @param applied the plan that was carried out, where it is another
 */
export async function saveLock(
  { plan, lockPlace, lock: nextLock, vouched, made, signature: known }: Planned,
  { place, check, applied = plan }: { readonly place: Place; readonly check: CheckText; readonly applied?: Plan },
): Promise<void> {
  const lock = nextLock()
  await writeLockAt(lockPlace, lock, { place, check, signature: isSame(lock, vouched) ? known : undefined })
  const part = plan.target && { ...plan.target, needed: applied.target?.needed ?? [] }
  await made.settle(({ organization: { id }, changes }) =>
    part
      ? id === plan.organization.id && changes.every(({ address }) => isInPart(part, address))
      : Object.hasOwn(lock, id),
  )
}

function isSame(one: Lock, other: Lock): boolean {
  return lockText(one) === lockText(other)
}

/** A client that says how many queries it was asked. */
type CountedClient = QueryClient & { readonly queries: number }

function countQueries(client: QueryClient, tell: (queries: number) => void): CountedClient {
  const counted = {
    ...client,
    queries: 0,
    query: ((name, request, options) => {
      counted.queries++
      tell(counted.queries)
      return client.query(name, request, options)
    }) as QueryClient['query'],
  }
  return counted
}
