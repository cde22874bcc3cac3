import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import { listActivities, reader } from '../../operations/index.ts'
import { isWaiting } from '../../protocol/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { type ActivityView, renderActivityLine, viewActivity } from '../views/activity.ts'
import { mayPay } from '../views/asked-payments.ts'
import { isMine, NOTHING_FOR_ME, notShown, notShownText, viewWaiting } from './approvals.ts'
import { findKnown, viewForVoter } from './review.ts'
import { withSendsKnown } from './sends-known.ts'

/** Lists activities, newest first. */
export async function activities(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const limit = readLimit(options['limit'])
  if (options['waiting'] === true) return waitingForMe(input, limit)
  if (options['all'] === true)
    throw new QuorateError('cli/usage', '--all says more of what waits', {
      next: 'give --waiting too, or leave it out',
    })
  const place = await findPlace(input)
  const client = reader(place)
  const known = await findKnown(input, place)
  const found = await listActivities(client, { limit })
  // What waits is approved by what is read here: then names that look like others must be told from them.
  const waits = ({ status }: (typeof found)[number]) => isWaiting(status)
  const isTold = (one: (typeof found)[number]) => waits(one) || mayPay(one)
  const actual = found.some(isTold) ? await readActual(client) : undefined
  const views: ActivityView[] = []
  for (const activity of found) {
    if (actual && waits(activity)) views.push(await viewForVoter(activity, { client, place, known, actual }))
    else {
      const paid = isTold(activity) ? actual : undefined
      const view = viewActivity(activity, place.now(), paid, undefined, undefined, known.sends.names)
      views.push(await withSendsKnown(view, activity, known.sends))
    }
  }
  if (json) writeJson(io, { activities: views })
  else if (views.length === 0) io.say('There are no activities.\n')
  else for (const view of views) io.out(renderActivityLine(view, io.style, place.now()))
  return EXIT.done
}

/** Lists what waits for the vote of the key in use, oldest first; with `--all` whatever waits. */
async function waitingForMe(input: CommandInput, limit: number): Promise<ExitCode> {
  const { io, json, options } = input
  const place = await findPlace(input)
  const views = await viewWaiting(input, place)
  const mine = options['all'] === true ? views : views.filter(isMine)
  const shown = mine.slice(0, limit)
  const others = notShown(views)
  if (json) writeJson(io, { activities: shown, ...others })
  else {
    for (const view of shown) io.out(renderActivityLine(view, io.style, place.now()))
    if (shown.length === 0) io.out(options['all'] === true ? 'Nothing waits for approval.\n' : NOTHING_FOR_ME)
    if (options['all'] !== true) io.say(notShownText(others))
  }
  if (mine.length > shown.length)
    io.say(line`${mine.length - shown.length} more wait: --limit ${mine.length} shows them.\n`)
  return EXIT.done
}

function readLimit(text: unknown): number {
  const limit = text === undefined ? 20 : Number(text)
  if (Number.isInteger(limit) && limit > 0) return limit
  throw new QuorateError('cli/usage', `expected --limit to be a whole number above 0, got \`${text}\``, {
    next: 'correct --limit',
  })
}
