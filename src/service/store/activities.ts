import { prepare } from './prepared.ts'
import type { ActivityRecordRow } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** What narrows a list of activities. Without `after`, the newest come first in line. */
export interface ActivityListing {
  readonly statuses?: readonly string[]
  readonly types?: readonly string[]
  readonly limit: number
  /** Only activities created earlier than the one at this position. */
  readonly beforePosition?: number
  /** Only activities created later than the one at this position, the closest to it first in line. */
  readonly afterPosition?: number
}

/** What a vote or an execution may change of an activity. */
export type ActivityUpdate = Pick<ActivityRecordRow, 'status' | 'updated_at'> &
  Partial<Pick<ActivityRecordRow, 'result' | 'failure' | 'window_opened_at'>>

/** Reads one activity by id. */
export async function findActivityById(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<ActivityRecordRow | undefined> {
  return tx
    .selectFrom('activities')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** A fingerprint under which no bytes find the activity; people are shown that of its bytes. */
export function keptApart(fingerprint: string, id: string): string {
  return `${fingerprint} ${id}`
}

/** The fingerprint of the bytes that an activity was made from. */
export function shownFingerprint(stored: string): string {
  return stored.split(' ', 1)[0]!
}

const byFingerprint = prepare((tx, of: { organizationId: string; fingerprint: string }) =>
  tx
    .selectFrom('activities')
    .selectAll()
    .where('organization_id', '=', of.organizationId)
    .where('fingerprint', '=', of.fingerprint),
)

/** Reads the activity that was made from the body with this fingerprint. */
export async function findActivityByFingerprint(
  tx: Transaction,
  organizationId: string,
  fingerprint: string,
): Promise<ActivityRecordRow | undefined> {
  return (await byFingerprint(tx, { organizationId, fingerprint }))[0]
}

const insert = prepare((tx, row: Omit<ActivityRecordRow, 'position'>) =>
  tx
    .insertInto('activities')
    .values(({ fn, selectFrom }) => ({
      ...row,
      position: selectFrom('activities')
        .select(({ eb }) => eb(fn.coalesce(fn.max<number>('position'), eb.lit(0)), '+', 1).as('next'))
        .where('organization_id', '=', row.organization_id),
    }))
    .returning('position'),
)

/** Records a new activity at the next position of its organization and returns the row. */
export async function insertActivity(
  tx: Transaction,
  activity: Omit<ActivityRecordRow, 'position'>,
): Promise<ActivityRecordRow> {
  // INVARIANT: the organization's row is locked, so nobody else can take the same position.
  const [made] = await insert(tx, activity)
  return { ...activity, position: made!.position }
}

const update = prepare(
  (tx, { organizationId, id, ...columns }: ActivityUpdate & { organizationId: string; id: string }) =>
    tx.updateTable('activities').set(columns).where('organization_id', '=', organizationId).where('id', '=', id),
)

/** Writes what became of an activity and returns the row as it is now. */
export async function updateActivity(
  tx: Transaction,
  activity: ActivityRecordRow,
  change: ActivityUpdate,
): Promise<ActivityRecordRow> {
  await update(tx, { ...change, organizationId: activity.organization_id, id: activity.id })
  return { ...activity, ...change }
}

/** Lists activities newest first (facts: protocol §10). */
export async function listActivityRows(
  tx: Transaction,
  organizationId: string,
  listing: ActivityListing,
): Promise<ActivityRecordRow[]> {
  const { statuses = [], types = [], beforePosition, afterPosition } = listing
  let query = tx.selectFrom('activities').selectAll().where('organization_id', '=', organizationId)
  if (statuses.length > 0) query = query.where('status', 'in', statuses)
  if (types.length > 0) query = query.where('type', 'in', types)
  if (beforePosition !== undefined) query = query.where('position', '<', beforePosition)
  if (afterPosition !== undefined) query = query.where('position', '>', afterPosition)
  const towardsNewer = afterPosition !== undefined
  const rows = await query
    .orderBy('position', towardsNewer ? 'asc' : 'desc')
    .limit(listing.limit)
    .execute()
  return towardsNewer ? rows.reverse() : rows
}
