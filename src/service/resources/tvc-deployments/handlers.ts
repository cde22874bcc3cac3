import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { TVC_LIMITS, tvcApprovedAlready, tvcDebugModeOff, tvcNotMarked, tvcNotOfSet } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requireDistinct } from '../require.ts'
import { requireTvcApp } from '../tvc-apps/require-app.ts'
import { tvcAppTable } from '../tvc-apps/store.ts'
import { findTvcOperatorSets } from '../tvc-operators/store.ts'
import { readImageReference } from './image.ts'
import { checkApprovals, readDigest, writeManifest } from './manifest.ts'
import { checkStands, requireDeployment, requireStandingDeployment } from './require-deployment.ts'
import {
  deleteDeployments,
  findDeploymentByManifest,
  listApprovals,
  listDeploymentsOf,
  tvcDeploymentTable,
  tvcManifestApprovalTable,
} from './store.ts'

const create: TypedHandler<Wire.CreateTvcDeploymentIntent, Wire.CreateTvcDeploymentResult> = {
  async validate(context, intent) {
    const app = await requireTvcApp(context, intent.appId)
    readImageReference(intent.pivotContainerImageUrl)
    if (readDigest(intent.expectedPivotDigest) === undefined)
      throw apiError('invalidField', 'expectedPivotDigest', 'must be a SHA-256 in hex')
    if (intent.debugMode && app.enable_debug_mode === 0) throw tvcDebugModeOff(app.id)
    for (const field of ['healthCheckPort', 'publicIngressPort'] as const) checkRange(field, intent[field], 1, 65_535)
    if (intent.replicas !== undefined) checkRange('replicas', intent.replicas, 1, TVC_LIMITS.replicas)
    const present = await listDeploymentsOf(context.tx, context.organizationId, app.id)
    const last = lastNonce(present)
    if (intent.nonce !== undefined) checkRange('nonce', intent.nonce, last + 1, 4_294_967_295)
    if (present.filter((row) => row.marked_for_deletion === 0).length >= TVC_LIMITS.deployments)
      throw apiError('maxReached', 'organization', 'deployments of a TVC app', TVC_LIMITS.deployments)
  },
  async execute(context, intent) {
    const { tx, organizationId, now } = context
    const app = await requireTvcApp(context, intent.appId)
    const sets = await findTvcOperatorSets(tx, organizationId, [app.manifest_set_id, app.share_set_id])
    const present = await listDeploymentsOf(tx, organizationId, app.id)
    // Those that are marked make room.
    const tooMany = present.length + 1 - TVC_LIMITS.deployments
    const marked = present.filter((row) => row.marked_for_deletion === 1).map((row) => row.id)
    if (tooMany > 0) await deleteDeployments(tx, organizationId, marked.slice(0, tooMany))
    const nonce = intent.nonce ?? lastNonce(present) + 1
    const [id, manifestId] = [context.newId(), context.newId()]
    const manifest = writeManifest({
      app,
      manifestSet: sets.get(app.manifest_set_id)!,
      shareSet: sets.get(app.share_set_id)!,
      intent,
      nonce,
      enclaveRoot: context.enclaveRoot,
    })
    await tvcDeploymentTable.insert(tx, [
      {
        id,
        organization_id: organizationId,
        app_id: app.id,
        manifest_id: manifestId,
        manifest,
        nonce,
        qos_version: intent.qosVersion,
        container_url: intent.pivotContainerImageUrl,
        pivot_path: intent.pivotPath,
        pivot_args: JSON.stringify(intent.pivotArgs),
        encrypted_pull_secret: intent.pivotContainerEncryptedPullSecret || null,
        debug_mode: intent.debugMode ? 1 : 0,
        health_check_type: intent.healthCheckType,
        health_check_port: intent.healthCheckPort,
        public_ingress_port: intent.publicIngressPort,
        replicas: intent.replicas ?? 1,
        marked_for_deletion: 0,
        created_at: now,
        updated_at: now,
      },
    ])
    return { deploymentId: id, manifestId }
  },
}

/** All or nothing. Each is signed by its operator, over the manifest as it is kept here. */
const approve: TypedHandler<Wire.CreateTvcManifestApprovalsIntent, Wire.CreateTvcManifestApprovalsResult> = {
  async validate(context, intent) {
    await readApprovals(context, intent)
  },
  async execute(context, intent) {
    const { tx, organizationId, now } = context
    const rows = (await readApprovals(context, intent)).map((approval) => ({
      id: context.newId(),
      organization_id: organizationId,
      ...approval,
      created_at: now,
      updated_at: now,
    }))
    await tvcManifestApprovalTable.insert(tx, rows)
    return { approvalIds: rows.map(({ id }) => id) }
  },
}

/** It is marked, and can be restored until another deployment takes its place. The app is left without a live one. */
const remove: TypedHandler<Wire.DeleteTvcDeploymentIntent, Wire.DeleteTvcDeploymentResult> = {
  async validate(context, { deploymentId }) {
    await requireStandingDeployment(context, deploymentId)
  },
  async execute(context, { deploymentId }) {
    const { tx, organizationId, now } = context
    const { app_id } = await requireStandingDeployment(context, deploymentId)
    await tvcDeploymentTable.update(tx, organizationId, deploymentId, { marked_for_deletion: 1, now })
    const app = await requireTvcApp(context, app_id)
    if (app.live_deployment_id === deploymentId)
      await tvcAppTable.update(tx, organizationId, app_id, { live_deployment_id: null, now })
    return { deploymentId }
  },
}

const restore: TypedHandler<Wire.RestoreTvcDeploymentIntent, Wire.RestoreTvcDeploymentResult> = {
  async validate(context, { deploymentId }) {
    const { app_id, marked_for_deletion } = await requireDeployment(context, deploymentId)
    if (marked_for_deletion === 0) throw tvcNotMarked(deploymentId)
    const present = await listDeploymentsOf(context.tx, context.organizationId, app_id)
    if (present.filter((row) => row.marked_for_deletion === 0).length >= TVC_LIMITS.deployments)
      throw apiError('maxReached', 'organization', 'deployments of a TVC app', TVC_LIMITS.deployments)
  },
  async execute({ tx, organizationId, now }, { deploymentId }) {
    await tvcDeploymentTable.update(tx, organizationId, deploymentId, { marked_for_deletion: 0, now })
    return { deploymentId }
  },
}

export const tvcDeploymentHandlers = {
  ACTIVITY_TYPE_CREATE_TVC_DEPLOYMENT: create,
  ACTIVITY_TYPE_CREATE_TVC_MANIFEST_APPROVALS: approve,
  ACTIVITY_TYPE_DELETE_TVC_DEPLOYMENT: remove,
  ACTIVITY_TYPE_RESTORE_TVC_DEPLOYMENT: restore,
} satisfies HandlerRows

async function readApprovals(
  context: HandlerContext,
  { manifestId, approvals }: Wire.CreateTvcManifestApprovalsIntent,
): Promise<{ deployment_id: string; operator_id: string; signature: string }[]> {
  const { tx, organizationId } = context
  const deployment = await findDeploymentByManifest(tx, organizationId, manifestId)
  if (!deployment) throw apiError('notFound', 'TVC manifest', manifestId)
  checkStands(deployment)
  const operatorIds = approvals.map(({ operatorId }) => operatorId)
  requireDistinct('operatorId', operatorIds)
  const { manifest_set_id } = await requireTvcApp(context, deployment.app_id)
  const { members } = (await findTvcOperatorSets(tx, organizationId, [manifest_set_id])).get(manifest_set_id)!
  const present = new Set((await listApprovals(tx, organizationId, [deployment.id])).map((row) => row.operator_id))
  const given = approvals.map(({ operatorId, signature }) => {
    const operator = members.find(({ id }) => id === operatorId)
    if (!operator) throw tvcNotOfSet('manifest', operatorId)
    if (present.has(operatorId)) throw tvcApprovedAlready(operatorId)
    return { operator, signature: signature.toLowerCase() }
  })
  checkApprovals(context, deployment.manifest, given)
  return given.map(({ operator, signature }) => ({ deployment_id: deployment.id, operator_id: operator.id, signature }))
}

function checkRange(field: string, value: number, least: number, most: number): void {
  if (value < least || value > most) throw apiError('invalidField', field, `must be from ${least} to ${most}`)
}

function lastNonce(present: readonly { readonly nonce: number }[]): number {
  return Math.max(-1, ...present.map(({ nonce }) => nonce))
}
