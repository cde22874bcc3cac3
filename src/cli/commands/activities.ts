import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import { listActivities, reader, readFactors } from '../../operations/index.ts'
import { isWaiting } from '../../protocol/index.ts'
import { createGasCeilings, ledgerOf } from '../../sending/index.ts'
import { findPlace } from '../background/connect.ts'
import { readFeeSettings } from '../background/kept-chains.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { type ActivityView, renderActivityLine, viewActivity } from '../views/activity.ts'
import { withOwnCeilings } from './own-ceilings.ts'

/** Lists activities, newest first. */
export async function activities(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const place = await findPlace(input)
  const client = reader(place)
  const found = await listActivities(client, {
    ...(options['waiting'] === true ? { which: 'waiting' } : {}),
    limit: readLimit(options['limit']),
  })
  // What waits is approved by what is read here: then names that look like others must be told from them.
  const waits = ({ status }: (typeof found)[number]) => isWaiting(status)
  const actual = found.some(waits) ? await readActual(client) : undefined
  const views: ActivityView[] = []
  const ceilingOf = createGasCeilings(readFeeSettings(input))
  const { sends: ledger } = ledgerOf(input.settings.dataDir)
  for (const activity of found) {
    const known = waits(activity) ? actual : undefined
    const mfa = known && (await readFactors(client, activity, known))
    const seen = viewActivity(activity, place.now(), known, mfa)
    const view = known === undefined ? seen : await withOwnCeilings(seen, ceilingOf)
    const { reference } = (await ledger.findByBody(activity.fingerprint)) ?? {}
    views.push(reference === undefined ? view : { ...view, reference })
  }
  if (json) writeJson(io, { activities: views })
  else if (views.length === 0)
    io.say(options['waiting'] ? 'Nothing waits for approval.\n' : 'There are no activities.\n')
  else for (const view of views) io.out(renderActivityLine(view, io.style, place.now()))
  return EXIT.done
}

function readLimit(text: unknown): number {
  const limit = text === undefined ? 20 : Number(text)
  if (Number.isInteger(limit) && limit > 0) return limit
  throw new QuorateError('cli/usage', `expected --limit to be a whole number above 0, got \`${text}\``, {
    next: 'correct --limit',
  })
}
