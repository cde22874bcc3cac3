import { createTable, type InOrder, type Transaction } from '../../store/index.ts'

/** An app whose program runs in enclaves. */
export interface TvcAppRow {
  id: string
  organization_id: string
  name: string
  /** Hex of 130 bytes: the quorum key, which the app's enclaves are given. */
  quorum_public_key: string
  manifest_set_id: string
  share_set_id: string
  enable_egress: number
  enable_debug_mode: number
  live_deployment_id: string | null
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    tvc_apps: InOrder<TvcAppRow>
  }
}

export const tvcAppTable = createTable('tvc_apps')

/** Reads which of these operator sets an app still names. */
export async function listSetsInUse(
  tx: Transaction,
  organizationId: string,
  setIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx
    .selectFrom('tvc_apps')
    .select(['manifest_set_id', 'share_set_id'])
    .where('organization_id', '=', organizationId)
    .where(({ or, eb }) => or([eb('manifest_set_id', 'in', setIds), eb('share_set_id', 'in', setIds)]))
    .execute()
  return new Set(rows.flatMap(({ manifest_set_id, share_set_id }) => [manifest_set_id, share_set_id]))
}
