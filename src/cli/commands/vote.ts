import { createSubmitClient } from '../../client/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import { castVote, findActivity, submitter } from '../../operations/index.ts'
import { isWaiting } from '../../protocol/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { placeOf, prove, readWay } from '../proof-options.ts'
import { line } from '../screen.ts'
import { type ActivityView, factorsLine, renderActivity } from '../views/activity.ts'
import { keepReason, readReason } from '../vote-reasons.ts'
import { findKnown, viewForVoter } from './review.ts'

/** Votes for an activity. */
export const approve = (input: CommandInput): Promise<ExitCode> => vote(input, 'approve')

/** Votes against an activity, which ends it for good. */
export const reject = (input: CommandInput): Promise<ExitCode> => vote(input, 'reject')

/** Shows what the activity does, asks, votes. Voting twice is harmless; a finished activity says how it ended. */
async function vote(input: CommandInput, choice: 'approve' | 'reject'): Promise<ExitCode> {
  const { io, json, args, settings } = input
  const way = readWay(input)
  const reason = readReason(input)
  const known = await findKnown(input)
  const place = await findPlace(input)
  const client = submitter(place)
  const activity = await findActivity(client, args[0]!)
  const actual = await readActual(client)
  const seen = (one: typeof activity) => viewForVoter(one, { client, place, known, actual })
  const before = await seen(activity)
  if (!json) io.out(renderActivity(before, io.style, place.now()))
  /** Who votes by something else than the key in use. */
  const proved = async (by: typeof way & string) => {
    const purpose = { title: `Vote with quorate`, does: `${choice}s ${before.code}` }
    const { stamper } = await prove(input, { way: by, place: placeOf(input, place), purpose })
    const { baseUrl, organizationId } = place
    return createSubmitClient({ baseUrl, organizationId, stamper })
  }
  if (!isWaiting(activity.status)) {
    if (json) writeJson(io, { voted: false, activity: before })
    else io.say(line`It has ended as ${wordOf(before)}; there is nothing to ${choice}.\n`)
    return EXIT.done
  }
  if (choice === 'approve' && input.options['despiteMismatch'] !== true) assertAsPlanned(before)
  const question = choice === 'approve' ? 'Approve it?' : 'Reject it?'
  await assertConfirmed(input, { question, otherwise: 'nothing was voted' })
  const voter = way === undefined ? client : await proved(way)
  const voted = await castVote(voter, activity.fingerprint, { vote: choice, now: place.now() })
  const after = await seen(voted)
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
  const mine = (after.missingFactors ?? []).map((one) => line`  it needs ${factorsLine(one)}\n`)
  if (json)
    writeJson(io, { voted: true, ...(file === undefined ? {} : { reason, reasonKeptIn: file }), activity: after })
  else {
    io.out(
      line`${choice === 'approve' ? 'Approved' : 'Rejected'} ${after.code}: now ${wordOf(after)}\n` + mine.join(''),
    )
    if (file !== undefined) io.say(line`The API has no place for a reason: it is kept on this machine, in ${file}.\n`)
  }
  return EXIT.done
}

/** Throws `cli/not-as-planned` for an activity that asks for something else than the plan it belongs to. */
function assertAsPlanned({ review, code }: ActivityView): void {
  if (review?.explained.kind !== 'mismatch') return
  const { plan, deviations } = review.explained
  throw new QuorateError('cli/not-as-planned', `${code} is not what the plan says that it belongs to`, {
    facts: {
      plan: plan.digest,
      differs: deviations.map(({ parameter }) => parameter).join(', '),
      voted: 'nothing',
    },
    next: 'ask whoever requested it, and reject it; or approve what it asks for all the same with --despite-mismatch',
    exit: EXIT.refused,
  })
}

function wordOf({ status }: ActivityView): string {
  return status.replace('ACTIVITY_STATUS_', '')
}
