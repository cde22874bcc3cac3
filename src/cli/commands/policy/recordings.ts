import type { Recordings } from '../../../analysis/index.ts'
import { listRecorded, type Place, reader } from '../../../operations/index.ts'
import { factsOfActivity } from '../../../scenarios/index.ts'
import type { CommandInput } from '../../command.ts'
import { parseDuration } from '../../durations.ts'
import type { Recording } from '../../views/backtest.ts'

const DEFAULT_SINCE = '90d'

/** Reads the activities of `--since`, newest first. */
export async function readRecordings(
  { options }: CommandInput,
  place: Place,
): Promise<{ readonly recordings: Recordings; readonly recording: Recording }> {
  const nowMs = place.now()
  const { since = DEFAULT_SINCE } = options
  const sinceMs = nowMs - parseDuration(String(since), '--since')
  const { activities, cut } = await listRecorded(reader(place), { sinceMs })
  return {
    recordings: {
      activities,
      factsOf: (activity, resources) => factsOfActivity(activity, { resources }),
      nowMs,
    },
    recording: {
      since: new Date(sinceMs).toISOString(),
      activities: activities.length,
      isCut: cut !== undefined,
    },
  }
}
