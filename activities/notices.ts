/** What people are to be told of a watched organization, from what the last look has found; nothing here is kept or sent. */
import type { QuietHours } from '../src/definitions/index.ts'
import { printable, withoutKeys } from '../src/diagnostics/index.ts'
import { authorText, driftText, shortCode } from '../src/plan/index.ts'
import type { ApplyProgress, Failure } from './model.ts'
import type { Notice, NoticeEvent } from './notice-model.ts'
import { isRotationOver, type RunningRotation } from './rotation-model.ts'
import { isSendOver, type SendProgress } from './send-model.ts'
import { afterHeld, type Watch, type WatchState } from './watch-model.ts'

/** How many looks in a row must find the same trouble: the next one often ends it. */
const LOOKS_OF_TROUBLE = 2

/**
 * What nothing has come of for so long is stuck: a send that was neither refused nor taken into a block, whatever it waits for; a rotation,
 * but in its overlap and while it waits for people.
 */
const STUCK_MS = 30 * 60_000

/** A line of a message, in UTF-16 units: people read it. */
const LONGEST = 600

/** The key under which an event is told. */
export const eventKey = (name: string, event: NoticeEvent): string =>
  `${'rotation' in event ? 'rotation' : 'apply'} ${name}`

/** What is to be told now. */
export function noticesOf({
  watch,
  state,
  apply,
  sends = [],
  rotations = [],
  events,
}: {
  readonly watch: Pick<Watch, 'everyMs'>
  readonly state: WatchState
  /** The apply that runs, if one does. */
  readonly apply: ApplyProgress | undefined
  /** The sends that run. @default none */
  readonly sends?: readonly SendProgress[]
  /** The rotations that are not over. @default none */
  readonly rotations?: readonly RunningRotation[]
  readonly events: Readonly<Record<string, NoticeEvent>>
}): readonly Notice[] {
  const afterMs = LOOKS_OF_TROUBLE * watch.everyMs
  const all: Notice[] = []
  for (const { address, action, cause, since, author, pending, mode } of state.drift) {
    const by = authorText(author === undefined ? {} : { author })
    const parts = [
      `${address} is not as defined since ${since}: ${driftText({ action, cause })}`,
      ...(by === undefined ? [] : [by]),
      ...(pending === undefined ? [] : [`asked for by activity ${pending}`]),
      ...(mode === 'propose' && state.proposal ? [`\`quorate apply sha256:${state.proposal}\` puts it back`] : []),
    ]
    // Changed again by another activity, it is another drift.
    const key = `drift ${action} ${address} ${author?.activityId ?? ''}`
    all.push({ topic: 'drift', key, text: parts.join('; ') })
  }
  for (const { id, type, fingerprint, since, approvedBy, approverIds = [], lapsed = [] } of state.waiting) {
    const what = `${type.replace('ACTIVITY_TYPE_', '')} ${shortCode(fingerprint)}`
    const by = approvedBy.length === 0 ? 'nobody' : approvedBy.join(', ')
    const text = `${what} waits for approval since ${since}, approved by ${by}; see it with \`quorate review ${id}\``
    all.push({ topic: 'waiting', key: `waiting ${id}`, text, notFor: approverIds })
    if (lapsed.length > 0) {
      const names = [...new Set(lapsed)].sort()
      const key = `lapsed ${id} ${names.join(' ')}`
      const whose = `approvals of ${what} count no more: ${names.join(', ')}`
      all.push({ topic: 'lapsed', key, text: `${whose}; approve again with \`quorate approve ${id}\`` })
    }
  }
  for (const [name, event] of Object.entries(events)) {
    const { topic, at, why } = event
    if ('rotation' in event) {
      const { user, key, state: ended } = event.rotation
      const how = ended === 'partial' ? 'ended in part, with the new key in use,' : 'failed'
      const text = `the rotation of the key \`${key}\` of ${user} ${how} at ${at}: ${why}; see it with \`quorate status\``
      all.push({ topic, key: eventKey(name, event), text })
      continue
    }
    const what = topic === 'rejected' ? 'was rejected' : 'failed'
    const text = `the apply of plan ${event.planDigest.slice(0, 12)} ${what} at ${at}: ${why}`
    all.push({ topic, key: eventKey(name, event), text })
  }
  const { held, refused, away, error } = state
  if (held) {
    const text = `a repair is held since ${held.since}: ${held.why} (${held.code}); ${afterHeld(held)}`
    all.push({ topic: 'stuck', key: `held ${held.code} ${held.since}`, text })
  }
  if (refused) {
    const text = `new definitions are held since ${refused.since}: ${refused.why} (${refused.code}); the ones before count, and nothing is repaired`
    all.push({ topic: 'stuck', key: `refused ${refused.code} ${refused.since}`, text })
  }
  if (away) {
    const text = `no definitions are fetched since ${away.since}: ${away.why} (${away.code}); the ones before count`
    all.push({ topic: 'stuck', key: `away ${away.code} ${away.since}`, text, afterMs })
  }
  if (error) {
    const text = `looks fail since ${error.since}: ${error.message} (${error.code})`
    all.push({ topic: 'stuck', key: `looks ${error.code} ${error.since}`, text, afterMs })
  }
  const trouble = apply && (apply.error ?? apply.batches.find(({ error: one }) => one !== undefined)?.error)
  if (apply && trouble) {
    const text = `the apply of plan ${apply.planDigest.slice(0, 12)} cannot go on: ${trouble.message} (${trouble.code})`
    all.push({ topic: 'stuck', key: `apply ${apply.planDigest} ${apply.startedAt} ${trouble.code}`, text, afterMs })
  }
  for (const { sendId, reference, state: stands, error: why } of sends) {
    if (isSendOver(stands) || (stands === 'waiting' && !why)) continue
    const what = `the send \`${reference}\` is ${stands}`
    all.push(stuckNotice({ what, key: `send ${sendId} ${stands}`, see: 'see it with `quorate sends`', why, afterMs }))
  }
  for (const rotation of rotations) {
    const { rotationId, user, key, state: stands, error: why, waiting, end } = rotation
    const isFine = isRotationOver(rotation) || waiting !== undefined || stands === 'overlap'
    if (isFine && !why && end === undefined) continue
    const what = `the rotation of the key \`${key}\` of ${user} is ${stands === 'overlap' ? 'in its overlap' : stands}`
    const told = `rotation ${rotationId} ${stands}`
    const see = 'see it with `quorate status`'
    if (end !== undefined) {
      const text = `${what}, and was ${end} at Temporal: nobody carries it out; ${see}`
      all.push({ topic: 'stuck', key: `${told} ended`, text, afterMs })
    } else all.push(stuckNotice({ what, key: told, see, why, afterMs }))
  }
  return all.map((one) => ({ ...one, text: withoutKeys(printable(one.text)).slice(0, LONGEST) }))
}

/** Of what cannot go on, told after the looks of a trouble; or, where nothing says why, of what has stood still for long. */
function stuckNotice({
  what,
  key,
  see,
  why,
  afterMs,
}: {
  readonly key: string
  readonly afterMs: number
  readonly what: string
  readonly see: string
  readonly why: Failure | undefined
}): Notice {
  return why
    ? {
        topic: 'stuck',
        key: `${key} ${why.code}`,
        text: `${what} and cannot go on: ${why.message} (${why.code}); ${see}`,
        afterMs,
      }
    : { topic: 'stuck', key, text: `${what} for half an hour and more; ${see}`, afterMs: STUCK_MS }
}

/** Whether it is quiet at this moment. */
export function isQuiet({ from, to, zone }: QuietHours, nowMs: number): boolean {
  const now = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(nowMs)
  return from <= to ? from <= now && now < to : from <= now || now < to
}
