import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import { listActivities, listWaiting, reader } from '../../operations/index.ts'
import { isWaiting } from '../../protocol/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { type ActivityView, renderActivityLine, viewActivity } from '../views/activity.ts'
import { mayPay } from '../views/asked-payments.ts'
import { findKnown, viewForVoter } from './review.ts'
import { withSendsKnown } from './sends-known.ts'

/** Lists activities, newest first; what waits, oldest first. */
export async function activities(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const place = await findPlace(input)
  const client = reader(place)
  const known = await findKnown(input, place)
  const limit = readLimit(options['limit'])
  const all = await (options['waiting'] === true ? listWaiting(client) : listActivities(client, { limit }))
  const found = all.slice(0, limit)
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
  else if (views.length === 0)
    io.say(options['waiting'] ? 'Nothing waits for approval.\n' : 'There are no activities.\n')
  else for (const view of views) io.out(renderActivityLine(view, io.style, place.now()))
  if (all.length > found.length)
    io.say(line`${all.length - found.length} more wait: --limit ${all.length} shows them.\n`)
  return EXIT.done
}

function readLimit(text: unknown): number {
  const limit = text === undefined ? 20 : Number(text)
  if (Number.isInteger(limit) && limit > 0) return limit
  throw new QuorateError('cli/usage', `expected --limit to be a whole number above 0, got \`${text}\``, {
    next: 'correct --limit',
  })
}
