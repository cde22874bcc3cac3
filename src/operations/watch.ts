/** Watches: which organizations are looked at again and again, by a Temporal Schedule each, and how they stood last. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, encodeScheduleOverlapPolicy, type ScheduleHandle } from '@temporalio/client'
import {
  createPlanStore,
  type NoticeSinkState,
  type OfferedDefinitions,
  type ReadCommit,
  type Watch,
  type WatchSource,
  type WatchState,
} from '../../activities/index.ts'
import type { ReconcileInput, reconcile } from '../../workflows/index.ts'
import { reconcileId } from '../../workflows/names.ts'
import { readLock, type WatchSettings } from '../definitions/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import type { ApplyPlace } from './apply.ts'
import type { GivenValues } from './load-folder.ts'
import { type PlanEvent, type Planned, type PlanRequest, planFolder } from './plan-folder.ts'
import { createKeptReader, keepDefinitions, keptLockText } from './watch-plan.ts'

/** A watched organization as it stands. */
export interface Watched {
  readonly watch: Watch
  /** How it stood when it was last looked at; absent before the first time. */
  readonly state?: WatchState
  /** Sinks whose last message did not arrive, by their names. */
  readonly untold?: Readonly<Record<string, NonNullable<NoticeSinkState['failing']>>>
  /** Why it is not looked at: a person's words. */
  readonly paused?: string
  /** Whether Temporal has no Schedule for it: nobody looks. */
  readonly isLost: boolean
  /** Temporal does not answer: whether and when it is looked at next is not known. @default false */
  readonly isUnknown?: boolean
  /** When it is looked at next, ISO 8601. */
  readonly nextAt?: string
}

/** One look at a time; one that was asked for while another runs comes after it. */
const OVERLAP = 'BUFFER_ONE'

/** Keeps the definitions of a planned folder, and has the organization looked at from now on; told again, it replaces what was. */
export async function addWatch(
  place: ApplyPlace,
  {
    request,
    planned,
    settings,
  }: { readonly request: PlanRequest; readonly planned: Planned; readonly settings: WatchSettings },
): Promise<Watch> {
  const { organizationId } = place
  const { watches } = createPlanStore(join(place.dataDir, 'plans'))
  const { definitions, given } = await keepDefinitions(request.folder, request.given)
  const watch: Watch = {
    organizationId,
    organization: planned.plan.organization.name,
    baseUrl: request.place.baseUrl,
    definitions: await watches.putDefinitions(definitions),
    given,
    ...settings,
    since: new Date().toISOString(),
  }
  await watches.putLock(organizationId, planned.vouched)
  await watches.put(watch)
  await beginLooks(place, settings)
  return watch
}

/** The Schedule of the looks, with one at once. A pause stays. */
async function beginLooks(place: ApplyPlace, { everyMs }: Pick<WatchSettings, 'everyMs'>): Promise<void> {
  const { organizationId, client, taskQueue } = place
  const input: ReconcileInput = { organizationId }
  const spec = { intervals: [{ every: everyMs }] }
  const action = {
    type: 'startWorkflow',
    workflowType: 'reconcile',
    workflowId: reconcileId(organizationId),
    taskQueue,
    args: [input] as Parameters<typeof reconcile>,
  } as const
  const policies = { overlap: OVERLAP, catchupWindow: '1 minute' } as const
  const before = await describe(client, organizationId)
  const handle = scheduleOf(client, organizationId)
  if (before) await handle.delete()
  const state = before?.isPaused ? { paused: true, note: before.note } : {}
  await client.schedule.create({ scheduleId: reconcileId(organizationId), spec, action, policies, state })
  await handle.trigger(OVERLAP)
}

/** What a source offers, as it was planned before its watch begins. */
export interface PlannedSource {
  readonly offered: OfferedDefinitions
  readonly planned: Planned
}

/**
 * Reads what a source offers and plans it; undefined where it has errors, which are told. What was pushed before what an earlier watch
 * of pushes has taken is refused.
 */
export async function planSource(
  request: Omit<PlanRequest, 'folder' | 'kept'>,
  source: WatchSource,
  { readCommit, tell }: { readonly readCommit: ReadCommit; readonly tell: (event: PlanEvent) => void },
): Promise<PlannedSource | undefined> {
  const { place, given, dataDir } = request
  const { organizationId } = place
  const { watches, pushes } = createPlanStore(join(dataDir, 'plans'))
  const isPushed = (await watches.get(organizationId))?.source?.kind !== 'git'
  const before = isPushed ? await watches.takenOf(organizationId) : undefined
  const offered =
    source.kind === 'push'
      ? await pushes.newest(organizationId, { keys: source.keys, nowMs: Date.now(), since: before?.at })
      : (await readCommit(source, { given: valuesOf(given), after: undefined }))!
  const { definitions, commit } = offered
  const kept = {
    readFolder: createKeptReader(definitions),
    // Nobody else writes into the data folder.
    lock: place.embedded ? (await readLock(dataDir)).lock : await watches.lockOf(organizationId),
    lockText: keptLockText(definitions),
    commit,
  }
  const planned = await planFolder({ ...request, folder: definitions.folder, given: offered.given, kept }, tell)
  return planned && { offered, planned }
}

/** The same with definitions from a source: what it offers later, verified, takes their place. */
export async function addWatchFrom(
  place: ApplyPlace,
  {
    baseUrl,
    source,
    planned: { offered, planned },
    settings,
  }: {
    readonly baseUrl: string
    readonly source: WatchSource
    readonly planned: PlannedSource
    /** `modes` only as far as they were given over those of the definitions. */
    readonly settings: Pick<WatchSettings, 'everyMs' | 'sweepMs' | 'modes'>
  },
): Promise<Watch> {
  const { organizationId } = place
  const { watches } = createPlanStore(join(place.dataDir, 'plans'))
  const { definitions: files, given, ...rest } = offered
  const definitions = await watches.putDefinitions(files)
  const { modes = {}, notify } = planned.watch ?? {}
  const watch: Watch = {
    organizationId,
    organization: planned.plan.organization.name,
    baseUrl,
    definitions,
    source,
    given,
    ...settings,
    since: new Date().toISOString(),
  }
  await watches.putTaken(organizationId, {
    ...rest,
    given,
    definitions,
    settings: { modes, ...(notify ? { notify } : {}) },
  })
  await watches.putLock(organizationId, planned.vouched)
  await watches.put(watch)
  await beginLooks(place, settings)
  return watch
}

/** Those values that are set. */
function valuesOf({ env = {}, vars = {} }: GivenValues): Watch['given'] {
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { env: Object.fromEntries(set), vars: { ...vars } }
}

/** The organizations that are watched from this data folder. */
export async function listWatches({
  client,
  dataDir,
}: Pick<ApplyPlace, 'client' | 'dataDir'>): Promise<readonly Watched[]> {
  const { watches } = createPlanStore(join(dataDir, 'plans'))
  const all = await watches.list()
  const found = await Promise.all(
    all.map(async (watch): Promise<Watched> => {
      const state = await watches.stateOf(watch.organizationId)
      const sinks = Object.entries((await watches.noticesOf(watch.organizationId))?.sinks ?? {})
      const untold = sinks.flatMap(([name, { failing }]) => (failing ? [[name, failing] as const] : []))
      const described = await describe(client, watch.organizationId)
      const { isPaused = false, note = '', nextAt } = described ?? {}
      return {
        watch,
        ...(state ? { state } : {}),
        ...(untold.length > 0 ? { untold: Object.fromEntries(untold) } : {}),
        ...(isPaused ? { paused: note } : {}),
        isLost: described === undefined,
        ...(nextAt === undefined || isPaused ? {} : { nextAt }),
      }
    }),
  )
  return found.toSorted((a, b) => (a.watch.organization < b.watch.organization ? -1 : 1))
}

/** Digest of the plan that the watch of the organization proposes now; undefined where there is none. */
export async function proposalOf({
  dataDir,
  organizationId,
}: Pick<ApplyPlace, 'dataDir' | 'organizationId'>): Promise<string | undefined> {
  return (await createPlanStore(join(dataDir, 'plans')).watches.stateOf(organizationId))?.proposal
}

/** The organization of the place as it is watched. Throws `cli/not-watched`. */
export async function findWatch(place: ApplyPlace): Promise<Watched> {
  const found = (await listWatches(place)).find(({ watch }) => watch.organizationId === place.organizationId)
  if (found) return found
  throw new QuorateError('cli/not-watched', 'this organization is not watched from this data folder', {
    facts: { organizationId: place.organizationId },
    next: 'begin with `quorate watch add FOLDER`',
  })
}

/** It is looked at no more until somebody resumes it. Throws `cli/not-watched` and `cli/watch-unchanged`. */
export async function pauseWatch(place: ApplyPlace, because: string): Promise<void> {
  await findWatch(place)
  // Without a note Temporal takes it for no pause.
  const pause = because.trim() || 'no reason given'
  await change(place, { pause }, ({ isPaused }) => isPaused)
}

/** It is looked at again, at once, and what was held is tried once more. Throws `cli/not-watched` and `cli/watch-unchanged`. */
export async function resumeWatch(place: ApplyPlace): Promise<void> {
  const { watch } = await findWatch(place)
  const { watches } = createPlanStore(join(place.dataDir, 'plans'))
  await watches.put({ ...watch, resumedAt: new Date().toISOString() })
  const overlapPolicy = encodeScheduleOverlapPolicy(OVERLAP)!
  const isResumed = ({ isPaused, nextAt }: Described) => !isPaused && nextAt !== undefined
  await change(place, { unpause: 'resumed', triggerImmediately: { overlapPolicy } }, isResumed)
}

/** It is looked at now, also where it is paused. Throws `cli/not-watched`. */
export async function runWatch(place: ApplyPlace): Promise<void> {
  await findWatch(place)
  await scheduleOf(place.client, place.organizationId).trigger(OVERLAP)
}

/** How long a look may take before nobody waits for its end: one of many sub-organizations takes minutes. */
const LOOK_MS = 20_000

/** Waits until a look that began after `sinceMs` has ended. Says whether one has. */
export async function untilLooked({ organizationId, dataDir }: ApplyPlace, sinceMs: number): Promise<boolean> {
  const { watches } = createPlanStore(join(dataDir, 'plans'))
  const endsAt = performance.now() + LOOK_MS
  while (performance.now() < endsAt) {
    const state = await watches.stateOf(organizationId)
    if (state && Date.parse(state.lookedAt) >= sinceMs) return true
    await delay(250)
  }
  return false
}

/** It is looked at now, unless nobody watches it or somebody has paused that. Says whether it is. */
export async function lookUnlessPaused({ client, organizationId }: ApplyPlace): Promise<boolean> {
  const described = await describe(client, organizationId)
  if (!described || described.isPaused) return false
  await scheduleOf(client, organizationId).trigger(OVERLAP)
  return true
}

/** It is watched no longer. An apply that was begun goes on. Throws `cli/not-watched`. */
export async function removeWatch(place: ApplyPlace): Promise<void> {
  await findWatch(place)
  const { watches } = createPlanStore(join(place.dataDir, 'plans'))
  const handle = scheduleOf(place.client, place.organizationId)
  if (await describe(place.client, place.organizationId)) await handle.delete()
  await watches.remove(place.organizationId)
}

function scheduleOf(client: Client, organizationId: string): ScheduleHandle {
  return client.schedule.getHandle(reconcileId(organizationId))
}

interface Described {
  readonly isPaused: boolean
  readonly note: string
  readonly nextAt?: string
}

/**
 * How Temporal has a Schedule; undefined where it has none. Asked by hand: the SDK would read what its runs begin with, which is
 * sealed for workflows alone.
 */
async function describe(client: Client, organizationId: string): Promise<Described | undefined> {
  try {
    const { schedule, info } = await client.workflowService.describeSchedule({
      namespace: client.options.namespace,
      scheduleId: reconcileId(organizationId),
    })
    const [next] = info?.futureActionTimes ?? []
    return {
      isPaused: schedule?.state?.paused === true,
      note: schedule?.state?.notes ?? '',
      ...(next ? { nextAt: new Date(Number(next.seconds) * 1000).toISOString() } : {}),
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === NOT_FOUND) return undefined
    throw error
  }
}

type Patch = NonNullable<Parameters<Client['workflowService']['patchSchedule']>[0]['patch']>

/**
 * Has Temporal change the Schedule, and resolves when it has. Of the changes that reach a Schedule in one of its workflow tasks
 * Temporal makes the last alone: a look that a webhook asks for can undo a pause. So all that is to change is one change, and it is
 * asked for again until Temporal tells it as made.
 */
async function change({ client, organizationId }: ApplyPlace, patch: Patch, isMade: (described: Described) => boolean) {
  const { namespace, identity } = client.options
  const until = Date.now() + CHANGE_MS
  while (Date.now() < until) {
    const scheduleId = reconcileId(organizationId)
    await client.workflowService.patchSchedule({ namespace, identity, scheduleId, requestId: randomUUID(), patch })
    for (let left = 20; left > 0; left--) {
      const described = await describe(client, organizationId)
      if (!described || isMade(described)) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const asked = patch.pause ? 'paused' : 'resumed'
  throw new QuorateError(
    'cli/watch-unchanged',
    `Temporal does not tell the watch as ${asked}, ${CHANGE_MS / 1000} s after it was asked`,
    {
      facts: { organizationId, [asked]: 'unknown' },
      next: 'see how it stands with `quorate watch list`, and give the command again',
    },
  )
}

/** How long Temporal is waited for. An incident waits for 10 s until it says that it does not know. */
const CHANGE_MS = 9_000

/** gRPC's code for what is not there. */
const NOT_FOUND = 5
