import { decodeHex, encodeBase64, encodeUtf8 } from '../../../encoding/index.ts'
import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { TvcAppRow } from '../tvc-apps/store.ts'
import type { TvcDeploymentRow, TvcManifestApprovalRow } from './store.ts'

/** Writes a deployment as the API does; the secret that pulls its image stays here. */
export function toWireTvcDeployment(
  row: TvcDeploymentRow,
  parts: {
    readonly app: TvcAppRow
    readonly setOf: (id: string) => Wire.TvcOperatorSet
    readonly approvals: readonly TvcManifestApprovalRow[]
  },
): Wire.TvcDeployment {
  const manifestSet = parts.setOf(parts.app.manifest_set_id)
  const times = { createdAt: toTimestamp(row.created_at), updatedAt: toTimestamp(row.updated_at) }
  const operators = new Map(manifestSet.operators.map((operator) => [operator.id, operator]))
  return {
    id: row.id,
    organizationId: row.organization_id,
    appId: row.app_id,
    manifestSet,
    shareSet: parts.setOf(parts.app.share_set_id),
    manifest: {
      id: row.manifest_id,
      manifest: encodeBase64(encodeUtf8(row.manifest)),
      createdAt: toTimestamp(row.created_at),
      updatedAt: toTimestamp(row.created_at),
    },
    manifestApprovals: parts.approvals.map((approval) => ({
      id: approval.id,
      manifestId: row.manifest_id,
      operator: operators.get(approval.operator_id)!,
      approval: encodeBase64(decodeHex(approval.signature)),
      createdAt: toTimestamp(approval.created_at),
      updatedAt: toTimestamp(approval.updated_at),
    })),
    qosVersion: row.qos_version,
    pivotContainer: {
      containerUrl: row.container_url,
      path: row.pivot_path,
      args: JSON.parse(row.pivot_args) as string[],
      hasPullSecret: row.encrypted_pull_secret !== null,
      healthCheckType: row.health_check_type as Wire.TvcHealthCheckType,
      healthCheckPort: row.health_check_port,
      publicIngressPort: row.public_ingress_port,
    },
    ...times,
    delete: row.marked_for_deletion === 1,
    debugMode: row.debug_mode === 1,
  }
}
