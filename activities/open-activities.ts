import type { QueryClient } from '../src/client/index.ts'
import { PAGE_LIMIT, readPages } from '../src/live/index.ts'
import { type ActivityStatus, type ActivityType, WAITING_STATUSES, type Wire } from '../src/protocol/index.ts'

/** Statuses that can still change (docs/protocol/activities.md#statuses). */
export const OPEN = [
  ...WAITING_STATUSES,
  'ACTIVITY_STATUS_PENDING',
  'ACTIVITY_STATUS_CREATED',
] as const satisfies readonly ActivityStatus[]

/** All statuses, of what is open and what has ended. */
export const STATUSES = [
  ...OPEN,
  'ACTIVITY_STATUS_COMPLETED',
  'ACTIVITY_STATUS_FAILED',
  'ACTIVITY_STATUS_REJECTED',
] as const satisfies readonly ActivityStatus[]

/** Reads the open activities of some types, newest first, all pages of them. */
export function readOpenActivities(client: QueryClient, types: readonly ActivityType[]): AsyncGenerator<Wire.Activity> {
  return readActivities(client, { types, statuses: OPEN })
}

/**
 * Reads the activities of some types and statuses, newest first, to the end or to the bound. A page that failed, repeats
 * or is no page is an error, never "there is none".
 */
export async function* readActivities(
  client: QueryClient,
  {
    types,
    statuses,
    most = Number.POSITIVE_INFINITY,
  }: {
    readonly types: readonly ActivityType[]
    readonly statuses: readonly ActivityStatus[]
    /** How many are read at most. @default all */
    readonly most?: number
  },
): AsyncGenerator<Wire.Activity> {
  const pages = readPages({
    query: 'list_activities',
    list: 'activities',
    id: 'id',
    mayBeShort: true,
    ask: (before) =>
      client.query('list_activities', {
        filterByStatus: [...statuses],
        filterByType: [...types],
        paginationOptions: { limit: String(PAGE_LIMIT), ...(before === undefined ? {} : { before }) },
      }),
  })
  let read = 0
  for await (const page of pages) {
    yield* page as unknown as readonly Wire.Activity[]
    read += page.length
    if (read >= most) return
  }
}
