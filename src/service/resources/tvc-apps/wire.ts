import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { Transaction } from '../../store/index.ts'
import { findTvcOperatorSets } from '../tvc-operators/store.ts'
import { toWireTvcOperatorSet } from '../tvc-operators/wire.ts'
import type { TvcAppRow } from './store.ts'

/** The sets of these apps, as the API writes them, by their ids. */
export async function wireSetsOf(
  tx: Transaction,
  organizationId: string,
  apps: readonly TvcAppRow[],
): Promise<(id: string) => Wire.TvcOperatorSet> {
  const ids = new Set(apps.flatMap(({ manifest_set_id, share_set_id }) => [manifest_set_id, share_set_id]))
  const sets = await findTvcOperatorSets(tx, organizationId, [...ids])
  return (id) => toWireTvcOperatorSet(sets.get(id)!)
}

/** Writes an app as the API does. It has no domain: nothing here serves it. */
export function toWireTvcApp(row: TvcAppRow, setOf: (id: string) => Wire.TvcOperatorSet): Wire.TvcApp {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    quorumPublicKey: row.quorum_public_key,
    manifestSet: setOf(row.manifest_set_id),
    shareSet: setOf(row.share_set_id),
    enableEgress: row.enable_egress === 1,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    ...(row.live_deployment_id === null ? {} : { liveDeploymentId: row.live_deployment_id }),
    publicDomain: '',
    enableDebugModeDeployments: row.enable_debug_mode === 1,
  }
}
