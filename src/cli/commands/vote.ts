import { createSubmitClient } from '../../client/index.ts'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import { castVote, findActivity, readFactors, submitter } from '../../operations/index.ts'
import { isWaiting } from '../../protocol/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { placeOf, prove, readWay } from '../proof-options.ts'
import { line } from '../screen.ts'
import { factorsLine, renderActivity, viewActivity } from '../views/activity.ts'

/** Votes for an activity. */
export const approve = (input: CommandInput): Promise<ExitCode> => vote(input, 'approve')

/** Votes against an activity, which ends it for good. */
export const reject = (input: CommandInput): Promise<ExitCode> => vote(input, 'reject')

/** Shows what the activity does, asks, votes. Voting twice is harmless; a finished activity says how it ended. */
async function vote(input: CommandInput, choice: 'approve' | 'reject'): Promise<ExitCode> {
  const { io, json, args } = input
  const way = readWay(input)
  const place = await findPlace(input)
  const client = submitter(place)
  const activity = await findActivity(client, args[0]!)
  const actual = await readActual(client)
  const seen = async (one: typeof activity) =>
    viewActivity(one, place.now(), actual, await readFactors(client, one, actual))
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
    else io.say(line`It has ended; there is nothing to ${choice}.\n`)
    return EXIT.done
  }
  const question = choice === 'approve' ? 'Approve it?' : 'Reject it?'
  await assertConfirmed(input, { question, otherwise: 'nothing was voted' })
  const voter = way === undefined ? client : await proved(way)
  const voted = await castVote(voter, activity.fingerprint, { vote: choice, now: place.now() })
  const after = await seen(voted)
  const mine = (after.missingFactors ?? []).map((one) => line`  it needs ${factorsLine(one)}\n`)
  if (json) writeJson(io, { voted: true, activity: after })
  else
    io.out(
      line`${choice === 'approve' ? 'Approved' : 'Rejected'} ${after.code}: now ${after.status.replace('ACTIVITY_STATUS_', '')}\n` +
        mine.join(''),
    )
  return EXIT.done
}
