import { createSubmitClient } from '../../client/index.ts'
import { EXIT, type ExitCode, messageOf, QuorateError, toErrorJson } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import { castVote, findActivity, isAsVoted, mayBeCast, submitter } from '../../operations/index.ts'
import { isWaiting, type Wire } from '../../protocol/index.ts'
import { usage } from '../../sending/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { placeOf, prove, readWay } from '../proof-options.ts'
import { line } from '../screen.ts'
import {
  type ActivityView,
  afterVoteText,
  asEnded,
  factorsLine,
  renderActivity,
  statusWord,
} from '../views/activity.ts'
import { keepReason, readReason } from '../vote-reasons.ts'
import { findKnown, sayClock, viewForVoter } from './review.ts'
import { voteOnBatch } from './vote-batch.ts'

/** Votes for activities. */
export const approve = (input: CommandInput): Promise<ExitCode> => voteOnThese(input, 'approve')

/** Votes against activities, which ends each for good. */
export const reject = (input: CommandInput): Promise<ExitCode> => voteOnThese(input, 'reject')

function voteOnThese(input: CommandInput, choice: 'approve' | 'reject'): Promise<ExitCode> {
  const { batch } = input.options
  if (typeof batch === 'string') return voteOnBatch(input, batch, choice)
  if (input.args.length === 0)
    throw usage('expected an activity, or --batch FILE', 'list them with `quorate approvals`')
  return vote(input, choice)
}

/** An activity that was named, and how it was shown. */
interface Named {
  readonly activity: Wire.Activity
  readonly before: ActivityView
}

/** What came of one: not voted where it had ended, or where one before it failed. */
interface Voted {
  readonly voted: boolean | 'unknown'
  readonly reason?: string
  readonly reasonKeptIn?: string
  readonly activity: ActivityView
}

/** Whether the vote in hand was cast. */
interface Standing {
  voted: boolean | 'unknown'
}

/** Shows what each activity does, asks once, votes on one after the other. Voting twice is harmless; a finished one says how it ended. */
async function vote(input: CommandInput, choice: 'approve' | 'reject'): Promise<ExitCode> {
  const { io, json, args, settings } = input
  const way = readWay(input)
  const place = await findPlace(input, { acts: true })
  // After the key in use is known, which no reason may be.
  const reason = readReason(input)
  const known = await findKnown(input, place)
  const client = submitter(place)
  const found = new Map<string, Wire.Activity>()
  for (const named of args) {
    const activity = await findActivity(client, named)
    found.set(activity.id, activity)
  }
  const actual = await readActual(client)
  const seen = (one: Wire.Activity) => viewForVoter(one, { client, place, known, actual })
  const all: Named[] = []
  for (const activity of found.values()) all.push({ activity, before: asEnded(await seen(activity)) })
  if (!json) io.out(all.map(({ before }) => renderActivity(before, io.style, place.now())).join('\n'))
  sayClock(input, place)
  const waiting = all.filter(({ activity }) => isWaiting(activity.status))
  const done: Voted[] = []
  for (const { activity, before } of all) {
    if (isWaiting(activity.status)) continue
    done.push({ voted: false, activity: before })
    if (!json) io.say(line`${before.code} has ended as ${statusWord(before.status)}; there is nothing to ${choice}.\n`)
  }
  // INVARIANT: before anything is voted, or one that is refused would leave the others half done.
  if (choice === 'approve' && input.options['despiteMismatch'] !== true)
    for (const { before } of waiting) assertAsPlanned(before)
  const verb = choice === 'approve' ? 'Approve' : 'Reject'
  const question = `${verb} ${waiting.length === 1 ? waiting[0]!.before.code : `these ${waiting.length}`}?`
  if (waiting.length > 0) await assertConfirmed(input, { question, otherwise: 'nothing was voted' })
  for (const [index, one] of waiting.entries()) {
    const standing: Standing = { voted: false }
    try {
      done.push(await castOne(one, standing))
    } catch (error) {
      throw brokenOff(error, { standing, left: waiting.slice(index).map(({ before }) => before) })
    }
  }
  if (json && done.length > 0) writeJson(io, args.length === 1 ? done[0]! : { votes: done })
  // Who asks for a rejection must not read of what was carried out that all is well.
  return done.every(({ activity }) => isAsVoted(activity.status, choice)) ? EXIT.done : EXIT.partial

  async function castOne({ activity, before }: Named, standing: Standing): Promise<Voted> {
    const voter = way === undefined ? client : await proved(way, before)
    standing.voted = 'unknown'
    const voted = await castVote(voter, activity.fingerprint, { vote: choice, now: place.now() }).catch((error) => {
      if (!mayBeCast(error)) standing.voted = false
      throw error
    })
    standing.voted = true
    const file =
      reason === undefined
        ? undefined
        : keepReason(settings.dataDir, {
            at: new Date(place.now()).toISOString(),
            organizationId: place.organizationId,
            activityId: activity.id,
            fingerprint: activity.fingerprint,
            vote: choice,
            by: actual.actor.userName,
            reason,
          })
    // The answer to the vote has the status; what is read after it may be missing without making the vote less.
    const after = await seen(voted).catch((error: unknown): ActivityView => {
      io.say(line`${before.code}: what it still needs could not be read: ${messageOf(error)}\n`)
      return { ...before, status: voted.status }
    })
    if (!json) {
      const mine = (after.missingFactors ?? []).map((one) => line`  it needs ${factorsLine(one)}\n`)
      io.out(
        line`${choice === 'approve' ? 'Approved' : 'Rejected'} ${after.code}: ${afterVoteText(after)}\n` +
          mine.join(''),
      )
      if (file !== undefined) io.say(line`The API has no place for a reason: it is kept on this machine, in ${file}.\n`)
    }
    return {
      voted: true,
      ...(reason === undefined || file === undefined ? {} : { reason, reasonKeptIn: file }),
      activity: after,
    }
  }

  /** What was voted before one failed, whether that one was, and what was not: each by its id, and how to go on. */
  function brokenOff(
    cause: unknown,
    { standing, left: [failed, ...rest] }: { readonly standing: Standing; readonly left: readonly ActivityView[] },
  ): unknown {
    // Of a single one its own error says it all.
    if (waiting.length === 1 && standing.voted !== 'unknown') return cause
    const cast = done.flatMap(({ voted, activity }) => (voted === true ? [activity] : []))
    if (standing.voted === true) cast.push(failed!)
    const unknown = standing.voted === 'unknown' ? [failed!] : []
    const notCast = standing.voted === false ? [failed!, ...rest] : rest
    if (cast.length + unknown.length === 0) return nothingVoted(cause)
    const namesOf = (some: readonly ActivityView[]) => some.map(({ code, id }) => `${code} (${id})`).join(', ')
    const again = [...unknown, ...notCast].map(({ id }) => id).join(' ')
    const { message, next } = toErrorJson(cause)
    const first =
      standing.voted === 'unknown'
        ? `\`quorate review ${failed!.id}\` says whether your vote was cast`
        : (next ?? 'mend what it says')
    const error = new QuorateError('cli/votes-broken-off', `the votes broke off: ${message}`, {
      facts: {
        cast: namesOf(cast) || 'nothing',
        unknown: namesOf(unknown) || 'nothing',
        'not cast': namesOf(notCast) || 'nothing',
      },
      next:
        again === ''
          ? first
          : `${first}; then give \`quorate ${choice} ${again}\` with the same options: one vote of yours counts once, however often it is cast`,
      exit: EXIT.partial,
      cause,
    })
    if (json && all.length > 1) {
      const failedOne: Voted = { voted: standing.voted, activity: failed! }
      const others = rest.map((activity): Voted => ({ voted: false, activity }))
      writeJson(io, { votes: [...done, failedOne, ...others], error: toErrorJson(error) })
    }
    return error
  }

  /** Who votes by something else than the key in use. */
  async function proved(by: typeof way & string, { code }: ActivityView) {
    const purpose = { title: `Vote with quorate`, does: `${choice}s ${code}` }
    const { stamper } = await prove(input, { way: by, place: placeOf(input, place), purpose })
    const { baseUrl, organizationId } = place
    return createSubmitClient({ baseUrl, organizationId, stamper })
  }
}

/** The error of the first of several votes, where it was surely not cast. */
function nothingVoted(cause: unknown): unknown {
  if (!(cause instanceof QuorateError)) return cause
  const { code, message, facts, next, exit } = cause
  const rest = next === undefined ? {} : { next }
  return new QuorateError(code, message, { facts: { ...facts, voted: 'nothing' }, exit, cause, ...rest })
}

/** Throws `cli/not-as-planned` for an activity that asks for something else than the plan that names the same thing. */
function assertAsPlanned({ review, code }: ActivityView): void {
  if (review?.explained.kind !== 'mismatch') return
  const { plan, batch, deviations } = review.explained
  throw new QuorateError(
    'cli/not-as-planned',
    `${code} asks for something else than activity ${batch + 1} of plan ${plan.digest.slice(0, 12)}`,
    {
      facts: {
        plan: plan.digest,
        differs: deviations.map(({ parameter }) => parameter).join(', '),
        voted: 'nothing',
      },
      next: 'ask the user who requested it, and reject it; or approve what it asks for all the same with --despite-mismatch',
      exit: EXIT.refused,
    },
  )
}
