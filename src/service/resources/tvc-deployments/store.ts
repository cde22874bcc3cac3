import { createTable, type InOrder, storedList, type Transaction } from '../../store/index.ts'

/** A version of an app: the program that its enclaves would run, and the manifest that names it. */
export interface TvcDeploymentRow {
  id: string
  organization_id: string
  app_id: string
  manifest_id: string
  /** Canonical JSON (`manifest.ts`): its bytes are what operators approve. */
  manifest: string
  nonce: number
  qos_version: string
  container_url: string
  pivot_path: string
  /** JSON list of texts. */
  pivot_args: string
  /** As the request had it: sealed by the client. */
  encrypted_pull_secret: string | null
  debug_mode: number
  health_check_type: string
  health_check_port: number
  public_ingress_port: number
  replicas: number
  marked_for_deletion: number
  created_at: number
  updated_at: number
}

/** An operator's approval of a manifest. */
export interface TvcManifestApprovalRow {
  id: string
  organization_id: string
  deployment_id: string
  operator_id: string
  /** Hex of `r ‖ s`. */
  signature: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    tvc_deployments: InOrder<TvcDeploymentRow>
    tvc_manifest_approvals: InOrder<TvcManifestApprovalRow>
  }
}

export const tvcDeploymentTable = createTable('tvc_deployments')
/** An answer has the manifest and, beside it, the fields that the manifest was made of. */
export const tvcDeploymentList = storedList('tvc_deployments', ['manifest', 'encrypted_pull_secret'])
export const tvcManifestApprovalTable = createTable('tvc_manifest_approvals')

/** Reads the deployments of an app, in the order of their creation. */
export async function listDeploymentsOf(
  tx: Transaction,
  organizationId: string,
  appId: string,
): Promise<(TvcDeploymentRow & { position: number })[]> {
  return tx
    .selectFrom('tvc_deployments')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('app_id', '=', appId)
    .orderBy('tvc_deployments.position')
    .execute()
}

/** Reads the deployment that a manifest is of. */
export async function findDeploymentByManifest(
  tx: Transaction,
  organizationId: string,
  manifestId: string,
): Promise<TvcDeploymentRow | undefined> {
  return tx
    .selectFrom('tvc_deployments')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('manifest_id', '=', manifestId)
    .executeTakeFirst()
}

/** Reads the approvals of manifests, in the order of their creation. */
export async function listApprovals(
  tx: Transaction,
  organizationId: string,
  deploymentIds: readonly string[],
): Promise<TvcManifestApprovalRow[]> {
  if (deploymentIds.length === 0) return []
  return tx
    .selectFrom('tvc_manifest_approvals')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('deployment_id', 'in', deploymentIds)
    .orderBy('tvc_manifest_approvals.position')
    .execute()
}

/** Counts the operators who have approved the manifest of a deployment. */
export async function countApprovals(tx: Transaction, organizationId: string, deploymentId: string): Promise<number> {
  return (await listApprovals(tx, organizationId, [deploymentId])).length
}

/** Deletes deployments, with their approvals and provisioning shares. */
export async function deleteDeployments(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  for (const table of ['tvc_provisioning_shares', 'tvc_manifest_approvals'] as const) {
    await tx.deleteFrom(table).where('organization_id', '=', organizationId).where('deployment_id', 'in', ids).execute()
  }
  await tvcDeploymentTable.delete(tx, organizationId, ids)
}
