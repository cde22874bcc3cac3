import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { first, prepare, type Rows, whenRead } from './prepared.ts'
import type { ActivityRecordRow, InOrder, Schema } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** The filters of a list of activities. Without `after`, the newest come first in line. */
export interface ActivityListing {
  readonly statuses?: readonly string[]
  readonly types?: readonly string[]
  readonly limit: number
  /** Bytes of intents, results and votes after which the list ends, with one activity at least. */
  readonly mostBytes: number
  /** Only activities created earlier than the one at this position. */
  readonly beforePosition?: number
  /** Only activities created later than the one at this position, the closest to it first in line. */
  readonly afterPosition?: number
}

/** The members of an activity that a vote or an execution may change. */
export type ActivityUpdate = Pick<ActivityRecordRow, 'status' | 'updated_at'> &
  Partial<Pick<ActivityRecordRow, 'result' | 'failure' | 'window_opened_at'>>

/** Reads one activity by id. */
export async function findActivityById(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<InOrder<ActivityRecordRow> | undefined> {
  return tx
    .selectFrom('activities')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The fingerprint that a denied activity is kept under: no bytes find it there. People are shown that of its bytes. */
export function fingerprintOfDenied(fingerprint: string, id: string): string {
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
export function findActivityByFingerprint(
  tx: Transaction,
  organizationId: string,
  fingerprint: string,
): Rows<ActivityRecordRow | undefined> {
  return whenRead(byFingerprint(tx, { organizationId, fingerprint }), first)
}

// Nobody reads the position of a new activity: to give it back would cost SQLite a table of its own in each submit.
const insert = prepare((tx, row: ActivityRecordRow) =>
  tx.insertInto('activities').values(({ fn, selectFrom }) => ({
    ...row,
    position: selectFrom('activities')
      .select(({ eb }) => eb(fn.coalesce(fn.max<number>('position'), eb.lit(0)), '+', 1).as('next'))
      .where('organization_id', '=', row.organization_id),
  })),
)

/** Records a new activity at the next position of its organization and returns the row. */
export function insertActivity(tx: Transaction, activity: ActivityRecordRow): Rows<ActivityRecordRow> {
  // INVARIANT: the organization's row is locked, so nobody else can take the same position.
  return whenRead(insert(tx, activity), () => activity)
}

const update = prepare(
  (tx, { organizationId, id, ...columns }: ActivityUpdate & { organizationId: string; id: string }) =>
    tx.updateTable('activities').set(columns).where('organization_id', '=', organizationId).where('id', '=', id),
)

/** Writes what became of an activity and returns the row as it is now. */
export function updateActivity(
  tx: Transaction,
  activity: ActivityRecordRow,
  change: ActivityUpdate,
): Rows<ActivityRecordRow> {
  const done = update(tx, { ...change, organizationId: activity.organization_id, id: activity.id })
  return whenRead(done, () => ({ ...activity, ...change }))
}

/** Whether an organization has completed an activity of one of these types. */
export async function hasCompleted(
  tx: Transaction,
  organizationId: string,
  types: readonly string[],
): Promise<boolean> {
  const found = await tx
    .selectFrom('activities')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('type', 'in', types)
    .where('status', '=', 'ACTIVITY_STATUS_COMPLETED')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Lists activities newest first (docs/protocol/requests.md#pages-and-filters). */
export async function listActivityRows(
  tx: Transaction,
  organizationId: string,
  listing: ActivityListing,
): Promise<InOrder<ActivityRecordRow>[]> {
  const { beforePosition, afterPosition, limit } = listing
  const towardsNewer = afterPosition !== undefined
  const found: Listed[] = []
  for (const filter of filtersOf(listing)) {
    let query = tx
      .selectFrom('activities')
      .select(['position', BYTES.as('bytes')])
      .where('organization_id', '=', organizationId)
      .where(filter)
    if (beforePosition !== undefined) query = query.where('position', '<', beforePosition)
    if (afterPosition !== undefined) query = query.where('position', '>', afterPosition)
    found.push(
      ...(await query
        .orderBy('position', towardsNewer ? 'asc' : 'desc')
        .limit(limit)
        .execute()),
    )
  }
  const inLine = found
    .sort((a, b) => (towardsNewer ? a.position - b.position : b.position - a.position))
    .slice(0, limit)
  // By position, not by id: of the organization's ids SQLite would read all, however few are asked for.
  const positions = takeBytes(inLine, listing.mostBytes).map(({ position }) => position)
  if (positions.length === 0) return []
  return tx
    .selectFrom('activities')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('position', 'in', positions)
    .orderBy('position', 'desc')
    .execute()
}

interface Listed {
  readonly position: number
  readonly bytes: number
}

/** What an activity takes in an answer, more or less. SQLite knows how long a text is without reading it. */
const BYTES = sql<number>`octet_length(intent) + coalesce(octet_length(result), 0) + coalesce(octet_length(failure), 0)
  + coalesce((select octet_length(proofs) from app_proofs where app_proofs.activity_id = activities.id), 0)
  + (select coalesce(sum(octet_length(message)), 0) from votes where votes.activity_id = activities.id)`

function takeBytes(inLine: readonly Listed[], mostBytes: number): readonly Listed[] {
  let bytes = 0
  const end = inLine.findIndex((one) => {
    bytes += one.bytes
    return bytes > mostBytes
  })
  return end < 0 ? inLine : inLine.slice(0, Math.max(1, end))
}

type Filter = (eb: ExpressionBuilder<Schema, 'activities'>) => Expression<SqlBool>

const COMPLETED = 'ACTIVITY_STATUS_COMPLETED'

/**
 * The parts of a listing, each of which one index has in the order of the list: then no more is read than is shown,
 * however few match. Each status that is not the usual one has a part; if all are asked for, each type has.
 */
function filtersOf({ statuses = [], types = [] }: ActivityListing): readonly Filter[] {
  const ofStatuses: Filter = (eb) => (statuses.length === 0 ? eb.lit(true) : eb('status', 'in', statuses))
  if (statuses.length > 0 && !statuses.includes(COMPLETED)) {
    return [...new Set(statuses)].map(
      (status) => (eb) =>
        eb.and([
          eb('status', '=', status),
          // SQLite takes a partial index for a condition that it finds in the query as it stands.
          sql<SqlBool>`status <> ${sql.lit(COMPLETED)}`,
          // Of what is no column, no other index is thought to help.
          types.length === 0 ? eb.lit(true) : eb(sql`(type || '')`, 'in', types),
        ]),
    )
  }
  if (types.length === 0) return [ofStatuses]
  return [...new Set(types)].map((type) => (eb) => eb.and([eb('type', '=', type), ofStatuses(eb)]))
}
