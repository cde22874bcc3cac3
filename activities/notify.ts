/**
 * Tells people of a watched organization: each sink is told of each thing once. What could not be told stays to be told, and is
 * tried again with later looks; nothing that fails here fails a look.
 */
import { sha256 } from '../src/crypto/index.ts'
import type { NoticeSink } from '../src/definitions/index.ts'
import { printable, withoutKeys } from '../src/diagnostics/index.ts'
import { encodeHex } from '../src/encoding/index.ts'
import type { ActivityDependencies } from './dependencies.ts'
import type { ApplyProgress } from './model.ts'
import type { Notice, NoticeEvent, NoticeSinkState, NoticeState } from './notice-model.ts'
import { type NoticeEnvironment, NoticeLost, sendNotice } from './notice-sinks.ts'
import { eventKey, isQuiet, noticesOf } from './notices.ts'
import type { RotationOrder, RotationProgress, RunningRotation } from './rotation-model.ts'
import type { SendProgress } from './send-model.ts'
import type { Watch, WatchState } from './watch-model.ts'

/** What is not so any more and comes back within this time is not told again. */
const REMEMBERED_MS = 3_600_000
/** How long it is kept how an apply ended where a sink cannot be told. */
const KEPT_MS = 7 * 86_400_000
const FIRST_RETRY_MS = 30_000
const LAST_RETRY_MS = 3_600_000
const MOST_ROWS = 50

/** Tells all sinks of a watch what is due. Never throws. */
export async function notify(
  deps: Pick<
    ActivityDependencies,
    | 'planStore'
    | 'logger'
    | 'clock'
    | 'noticeEnvironment'
    | 'progressOfApply'
    | 'progressOfSends'
    | 'progressOfRotations'
  >,
  watch: Watch,
  state: WatchState,
): Promise<void> {
  const { notify: sinks = [], organizationId } = watch
  if (sinks.length === 0) return
  const { planStore, logger } = deps
  const { watches } = planStore
  try {
    const events = await watches.noticeEvents(organizationId)
    const apply = await deps.progressOfApply?.(organizationId).catch(() => undefined)
    const sends = await ownSends(deps, organizationId).catch(() => [])
    const rotations = await ownRotations(deps, organizationId).catch(() => [])
    const nowMs = deps.clock()
    const notices = noticesOf({ watch, state, apply, sends, rotations, events })
    const before = (await watches.noticesOf(organizationId)) ?? { since: {}, sinks: {} }
    const at = new Date(nowMs).toISOString()
    const rowsOfLock = (await watches.lockOf(organizationId))[organizationId] ?? {}
    const since = Object.fromEntries(notices.map(({ key }) => [key, before.since[key] ?? at]))
    const rows = await Promise.all(
      sinks.map(async (sink) => {
        const told = toldUntil(before.sinks[sink.name], { wasSo: before.since, since, nowMs })
        // Names are not unique, and users may change theirs: who reads it is who somebody vouched for under this name.
        const readerId = sink.user && (rowsOfLock[`user.${sink.user}`]?.id ?? sink.user)
        const after = await tell({ sink, readerId, notices, since, before: told, watch, nowMs, deps })
        if (after.failing && after.failing.times !== told.failing?.times)
          logger.warn('a message to people did not arrive', { organizationId, sink: sink.name, why: after.failing.why })
        return [sink.name, after] as const
      }),
    )
    const after: NoticeState = { since, sinks: Object.fromEntries(rows) }
    if (JSON.stringify(after) !== JSON.stringify(before)) await watches.putNotices(organizationId, after)
    for (const [name, event] of Object.entries(events)) {
      const wanting = sinks.filter(({ about }) => about.includes(event.topic))
      const isTold = wanting.every((sink) => after.sinks[sink.name]!.told[eventKey(name, event)] !== undefined)
      if (isTold || nowMs - Date.parse(event.at) > KEPT_MS) await watches.removeNoticeEvent(name)
    }
  } catch (error) {
    const message = error instanceof Error ? withoutKeys(error.message) : 'unknown'
    logger.warn('people could not be told', { organizationId, message })
  }
}

/** The sends that run, under the references of the ledger: what Temporal tells of them, somebody may have changed there. */
async function ownSends(
  { planStore, progressOfSends }: Pick<ActivityDependencies, 'planStore' | 'progressOfSends'>,
  organizationId: string,
): Promise<readonly SendProgress[]> {
  const own: SendProgress[] = []
  for (const progress of (await progressOfSends?.(organizationId)) ?? []) {
    const order = await planStore.sends.findOrder(progress.sendId)
    if (order?.organization.id === organizationId) own.push({ ...progress, reference: order.reference })
  }
  return own
}

/** The rotations that are not over, with the names of their orders. */
async function ownRotations(
  { planStore, progressOfRotations }: Pick<ActivityDependencies, 'planStore' | 'progressOfRotations'>,
  organizationId: string,
): Promise<readonly RunningRotation[]> {
  const own: RunningRotation[] = []
  for (const progress of (await progressOfRotations?.(organizationId)) ?? []) {
    const { organization, user, key } = await planStore.rotations.getOrder(progress.rotationId)
    if (organization.id === organizationId) own.push({ ...progress, user: user.name, key: key.name })
  }
  return own
}

/** Keeps how an apply ended for the watch of its organization, if it has one that tells anybody. */
export async function noteOutcome(
  { planStore, clock }: Pick<ActivityDependencies, 'planStore' | 'clock'>,
  {
    organizationId,
    run,
    outcome,
  }: { readonly organizationId: string; readonly run: string; readonly outcome: ApplyProgress },
): Promise<void> {
  const { state, planDigest, batches, error } = outcome
  if (state !== 'failed' && state !== 'rejected') return
  const { watches } = planStore
  if (!(await watches.get(organizationId))?.notify) return
  const why = (error ?? batches.find((one) => one.error !== undefined)?.error)?.message ?? state
  const at = new Date(clock()).toISOString()
  const event: NoticeEvent = { organizationId, topic: state, planDigest, at, why }
  await watches.putNoticeEvent(encodeHex(sha256(`${planDigest} ${run}`)), event)
}

/** The same of a rotation, for which nobody may wait any more: the reason would be in its sealed history alone. */
export async function noteRotation(
  { planStore, clock }: Pick<ActivityDependencies, 'planStore' | 'clock'>,
  { organization, user, key }: RotationOrder,
  { rotationId, state, error }: RotationProgress,
): Promise<void> {
  if (state !== 'failed' && state !== 'partial') return
  const { watches } = planStore
  if (!(await watches.get(organization.id))?.notify) return
  await watches.putNoticeEvent(encodeHex(sha256(`rotation ${rotationId}`)), {
    organizationId: organization.id,
    topic: 'failed',
    rotation: { user: user.name, key: key.name, state },
    at: new Date(clock()).toISOString(),
    why: error?.message ?? state,
  })
}

/** Leaves out what was over for so long that it is told again. */
function toldUntil(
  before: NoticeSinkState = { told: {} },
  {
    wasSo,
    since,
    nowMs,
  }: { readonly wasSo: NoticeState['since']; readonly since: NoticeState['since']; readonly nowMs: number },
): NoticeSinkState {
  const at = new Date(nowMs).toISOString()
  const told = Object.entries(before.told).flatMap(([key, last]): [string, string][] => {
    const isKept = (key in since && key in wasSo) || nowMs - Date.parse(last) < REMEMBERED_MS
    return isKept ? [[key, key in since ? at : last]] : []
  })
  return { ...before, told: Object.fromEntries(told) }
}

async function tell({
  sink,
  readerId,
  notices,
  since,
  before,
  watch,
  nowMs,
  deps: { noticeEnvironment = {} },
}: {
  readonly sink: NoticeSink
  /** The user whose audience it is. */
  readonly readerId: string | undefined
  readonly notices: readonly Notice[]
  readonly since: NoticeState['since']
  readonly before: NoticeSinkState
  readonly watch: Watch
  readonly nowMs: number
  readonly deps: { readonly noticeEnvironment?: NoticeEnvironment }
}): Promise<NoticeSinkState> {
  const due = notices.filter(
    ({ topic, key, notFor = [], afterMs = 0 }) =>
      sink.about.includes(topic) &&
      before.told[key] === undefined &&
      (readerId === undefined || !notFor.includes(readerId)) &&
      nowMs - Date.parse(since[key]!) >= afterMs,
  )
  const { failing: _, ...rest } = before
  if (due.length === 0) return rest
  if (sink.quiet && isQuiet(sink.quiet, nowMs)) return before
  if (before.failing && Date.parse(before.failing.nextAt) > nowMs) return before
  const at = new Date(nowMs).toISOString()
  const shown = due.slice(0, MOST_ROWS).map(({ topic, text }) => ({ topic, text }))
  const more = due.length - shown.length
  const rows =
    more > 0 ? [...shown, { topic: due.at(-1)!.topic, text: `and ${more} more: see \`quorate status\`` }] : shown
  const { organizationId } = watch
  const parts = [organizationId, sink.name, ...due.flatMap(({ key }) => [key, since[key]!])]
  const message = {
    id: `msg_${encodeHex(sha256(JSON.stringify(parts))).slice(0, 32)}`,
    at,
    organization: printable(watch.organization),
    organizationId,
    notices: rows,
  }
  try {
    await sendNotice(sink, message, { environment: noticeEnvironment, nowMs })
    return { told: { ...before.told, ...Object.fromEntries(due.map(({ key }) => [key, at])) } }
  } catch (error) {
    const times = (before.failing?.times ?? 0) + 1
    const waitMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (times - 1))
    // What a library says of a message may hold the address that it was sent to.
    const why = error instanceof NoticeLost ? error.message : 'it could not be sent'
    const nextAt = new Date(nowMs + waitMs).toISOString()
    return { ...before, failing: { times, why, since: before.failing?.since ?? at, nextAt } }
  }
}
