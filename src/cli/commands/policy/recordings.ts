import type { Recordings } from '../../../analysis/index.ts'
import { listActivities, type Place, reader } from '../../../operations/index.ts'
import { factsOfActivity } from '../../../scenarios/index.ts'
import type { CommandInput } from '../../command.ts'
import { parseDuration } from '../../durations.ts'
import type { Recording } from '../../views/backtest.ts'

/** More are not decided again in one run. */
const MOST_ACTIVITIES = 20_000
const DEFAULT_SINCE = '90d'

/** Reads the activities of `--since`, newest first. */
export async function readRecordings(
  { options }: CommandInput,
  place: Place,
): Promise<{ readonly recordings: Recordings; readonly recording: Recording }> {
  const nowMs = place.now()
  const { since = DEFAULT_SINCE } = options
  const sinceMs = nowMs - parseDuration(String(since), '--since')
  const found = await listActivities(reader(place), { limit: MOST_ACTIVITIES, sinceMs })
  return {
    recordings: {
      activities: found,
      factsOf: (activity, resources) => factsOfActivity(activity, { resources }),
      nowMs,
    },
    recording: {
      since: new Date(sinceMs).toISOString(),
      activities: found.length,
      isCut: found.length === MOST_ACTIVITIES,
    },
  }
}
