import { prepare, type Rows, type Transaction } from '../store/index.ts'

/** What the service has signed about one activity. */
export interface AppProofsRow {
  activity_id: string
  organization_id: string
  /** JSON list, as it is answered. */
  proofs: string
}

declare module '../store/schema.ts' {
  interface Schema {
    app_proofs: AppProofsRow
  }
}

const ofActivities = prepare((tx, of: { organizationId: string; activityIds: readonly string[] }) =>
  tx
    .selectFrom('app_proofs')
    .selectAll()
    .where('organization_id', '=', of.organizationId)
    .where('activity_id', 'in', of.activityIds),
)

/** Keeps the proofs of an activity. */
export async function insertAppProofs(tx: Transaction, row: AppProofsRow): Promise<void> {
  await tx.insertInto('app_proofs').values(row).execute()
}

/** Reads the proofs of activities, those that have some. */
export function listAppProofs(
  tx: Transaction,
  organizationId: string,
  activityIds: readonly string[],
): Rows<readonly AppProofsRow[]> {
  return activityIds.length === 0 ? [] : ofActivities(tx, { organizationId, activityIds })
}
