import type { QueryClient } from '../src/client/index.ts'
import { PAGE_LIMIT, readPages } from '../src/live/index.ts'
import type { ActivityType, Wire } from '../src/protocol/index.ts'

/** Statuses in which an activity can still come to something (facts: protocol §7). */
const OPEN = [
  'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
  'ACTIVITY_STATUS_PENDING',
  'ACTIVITY_STATUS_CREATED',
] as const

/**
 * Reads the open activities of some types, newest first, all pages of them. A page that failed, repeats or is no page is
 * an error, never "there is none" (lessons: a bad read taken as empty).
 */
export async function* readOpenActivities(
  client: QueryClient,
  types: readonly ActivityType[],
): AsyncGenerator<Wire.Activity> {
  const pages = readPages({
    query: 'list_activities',
    list: 'activities',
    id: 'id',
    mayBeShort: true,
    ask: (before) =>
      client.query('list_activities', {
        filterByStatus: [...OPEN],
        filterByType: [...types],
        paginationOptions: { limit: String(PAGE_LIMIT), ...(before === undefined ? {} : { before }) },
      }),
  })
  for await (const page of pages) yield* page as unknown as readonly Wire.Activity[]
}
