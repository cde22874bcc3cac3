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

/** Reads the activity that was made from the body with this fingerprint. */
export async function findActivityByFingerprint(
  tx: Transaction,
  organizationId: string,
  fingerprint: string,
): Promise<ActivityRecordRow | undefined> {
  return tx
    .selectFrom('activities')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('fingerprint', '=', fingerprint)
    .executeTakeFirst()
}

/** Records a new activity at the next position of its organization and returns the row. */
export async function insertActivity(
  tx: Transaction,
  activity: Omit<ActivityRecordRow, 'position'>,
): Promise<ActivityRecordRow> {
  // INVARIANT: the organization's row is locked, so nobody else can take the same position.
  const last = await tx
    .selectFrom('activities')
    .select((of) => of.fn.max('position').as('position'))
    .where('organization_id', '=', activity.organization_id)
    .executeTakeFirst()
  const row = { ...activity, position: (last?.position ?? 0) + 1 }
  await tx.insertInto('activities').values(row).execute()
  return row
}

/** Writes what became of an activity and returns the row as it is now. */
export async function updateActivity(
  tx: Transaction,
  activity: ActivityRecordRow,
  update: ActivityUpdate,
): Promise<ActivityRecordRow> {
  await tx
    .updateTable('activities')
    .set(update)
    .where('organization_id', '=', activity.organization_id)
    .where('id', '=', activity.id)
    .execute()
  return { ...activity, ...update }
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
