import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import { listWaiting, MOST_WAITING, type Place, reader } from '../../operations/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { type ActivityView, renderApprovals } from '../views/activity.ts'
import { findKnown, sayClock, viewForVoter } from './review.ts'

export const NOTHING_FOR_ME = 'Nothing waits for your approval.\n'

const HOW_TO_VOTE =
  'Look at one with `quorate review CODE`; vote with `quorate approve CODE` or `quorate reject CODE`, also several codes at once.\n'

/** Lists what waits for the vote of the key in use, oldest first, without what it has voted on. */
export async function approvals(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const place = await findPlace(input)
  const views = await viewWaiting(input, place)
  const shown = options['all'] === true ? views : views.filter(isMine)
  const others = notShown(views)
  if (json) writeJson(io, { approvals: shown, ...others })
  else {
    if (shown.length > 0) sayClock(input, place)
    if (shown.length > 0) io.out(renderApprovals(shown, io.style, place.now()))
    if (shown.length === 0) io.out(NOTHING_FOR_ME)
    if (options['all'] !== true) io.say(notShownText(others))
    if (shown.some(isMine)) io.say(HOW_TO_VOTE)
    if (views.length === MOST_WAITING) io.say(line`Only the newest ${MOST_WAITING} were looked at.\n`)
  }
  return EXIT.done
}

/** What waits, oldest first, as the key in use is to read it. */
export async function viewWaiting(input: CommandInput, place: Place): Promise<readonly ActivityView[]> {
  const known = await findKnown(input, place)
  const client = reader(place)
  const waiting = await listWaiting(client)
  const actual = waiting.length > 0 ? await readActual(client) : undefined
  const views: ActivityView[] = []
  if (actual) for (const activity of waiting) views.push(await viewForVoter(activity, { client, place, known, actual }))
  return views
}

/** Of what waits, how much is left out and why. */
interface NotShown {
  readonly approvedByMe: number
  readonly forOthers: number
}

export function notShown(views: readonly ActivityView[]): NotShown {
  const count = (mine: string) => views.filter(({ review }) => review?.standing?.mine === mine).length
  return { approvedByMe: count('given'), forOthers: count('does not count') }
}

export function notShownText({ approvedByMe, forOthers }: NotShown): string {
  const parts = [
    ...(approvedByMe > 0 ? [`${approvedByMe} that you have approved`] : []),
    ...(forOthers > 0 ? [`${forOthers} for which your approval does not count`] : []),
  ]
  return parts.length === 0
    ? ''
    : line`Not shown: ${parts.join(', and ')}; --all shows ${approvedByMe + forOthers === 1 ? 'it' : 'them'}.\n`
}

/** Where it is not known whether a vote counts, the voter is asked. */
export function isMine({ review }: ActivityView): boolean {
  const mine = review?.standing?.mine
  return mine === undefined || mine === 'counts'
}
