import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import { listWaiting, MOST_WAITING, reader } from '../../operations/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { type ActivityView, renderApproval } from '../views/activity.ts'
import { findKnown, viewForVoter } from './review.ts'

/** Lists what waits for the vote of the key in use, oldest first, without what it has voted on. */
export async function approvals(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const place = await findPlace(input)
  const known = await findKnown(input, place)
  const client = reader(place)
  const waiting = await listWaiting(client)
  const views: ActivityView[] = []
  if (waiting.length > 0) {
    const actual = await readActual(client)
    for (const activity of waiting) {
      views.push(await viewForVoter(activity, { client, place, known, actual }))
    }
  }
  const shown = options['all'] === true ? views : views.filter(isMine)
  const count = (mine: string) => views.filter(({ review }) => review?.standing?.mine === mine).length
  const others = { approvedByMe: count('given'), forOthers: count('does not count') }
  if (json) writeJson(io, { approvals: shown, ...others })
  else {
    for (const one of shown) io.out(renderApproval(one, io.style, place.now()))
    if (shown.length === 0) io.out('Nothing waits for your approval.\n')
    if (options['all'] !== true && others.approvedByMe + others.forOthers > 0)
      io.say(
        line`Not shown: ${others.approvedByMe} that you have approved, ${others.forOthers} on which your approval does not count (--all shows them).\n`,
      )
    if (waiting.length === MOST_WAITING) io.say(line`Only the newest ${MOST_WAITING} were looked at.\n`)
  }
  return EXIT.done
}

/** Where it is not known whether a vote counts, the voter is asked. */
function isMine({ review }: ActivityView): boolean {
  const mine = review?.standing?.mine
  return mine === undefined || mine === 'counts'
}
