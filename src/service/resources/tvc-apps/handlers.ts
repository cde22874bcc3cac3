import { apiError, type Wire } from '../../../protocol/index.ts'
import { TVC_LIMITS } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requireApprovedDeployment, requireStandingDeployment } from '../tvc-deployments/require-deployment.ts'
import { deleteDeployments, listDeploymentsOf } from '../tvc-deployments/store.ts'
import { readTvcKeys } from '../tvc-operators/operator-key.ts'
import {
  checkTvcOperatorSet,
  checkTvcRoom,
  makeTvcOperatorSet,
  type SetWanted,
} from '../tvc-operators/operator-sets.ts'
import { deleteTvcOperatorSets } from '../tvc-operators/store.ts'
import { requireTvcApp } from './require-app.ts'
import { listSetsInUse, tvcAppTable } from './store.ts'

const create: TypedHandler<Wire.CreateTvcAppIntent, Wire.CreateTvcAppResult> = {
  async validate(context, intent) {
    readTvcKeys('quorumPublicKey', intent.quorumPublicKey)
    const sets = setsOf(intent)
    let operators = 0
    for (const set of sets) operators += (await checkTvcOperatorSet(context, set)).added
    await checkTvcRoom(context, { operators, sets: sets.filter(({ id }) => !id).length })
    if ((await tvcAppTable.count(context.tx, context.organizationId)) >= TVC_LIMITS.apps)
      throw apiError('maxReached', 'organization', 'TVC apps', TVC_LIMITS.apps)
  },
  async execute(context, intent) {
    const { tx, organizationId, now } = context
    const [manifestWanted, shareWanted] = setsOf(intent)
    const manifest = await makeTvcOperatorSet(context, manifestWanted)
    const share = await makeTvcOperatorSet(context, shareWanted)
    const id = context.newId()
    await tvcAppTable.insert(tx, [
      {
        id,
        organization_id: organizationId,
        name: intent.name,
        quorum_public_key: intent.quorumPublicKey.toLowerCase(),
        manifest_set_id: manifest.id,
        share_set_id: share.id,
        enable_egress: intent.enableEgress ? 1 : 0,
        enable_debug_mode: intent.enableDebugModeDeployments ? 1 : 0,
        live_deployment_id: null,
        created_at: now,
        updated_at: now,
      },
    ])
    return {
      appId: id,
      manifestSetId: manifest.id,
      manifestSetOperatorIds: manifest.members.map((member) => member.id),
      manifestSetThreshold: manifest.threshold,
      shareSetId: share.id,
      shareSetOperatorIds: share.members.map((member) => member.id),
      shareSetThreshold: share.threshold,
    }
  },
}

/** A deployment may be the live one once as many operators as it takes have approved its manifest. */
const setLive: TypedHandler<Wire.UpdateTvcAppLiveDeploymentIntent, Wire.UpdateTvcAppLiveDeploymentResult> = {
  async validate(context, { deploymentId }) {
    await requireApprovedDeployment(context, deploymentId)
  },
  async execute(context, { deploymentId }) {
    const { tx, organizationId, now } = context
    const { app_id } = await requireStandingDeployment(context, deploymentId)
    await tvcAppTable.update(tx, organizationId, app_id, { live_deployment_id: deploymentId, now })
    return {}
  },
}

/** Nothing reaps here: the app is gone at once, with its deployments, and the sets that no other app has. */
const remove: TypedHandler<Wire.DeleteTvcAppAndDeploymentsIntent, Wire.DeleteTvcAppAndDeploymentsResult> = {
  async validate(context, { appId }) {
    await requireTvcApp(context, appId)
  },
  async execute(context, { appId }) {
    const { tx, organizationId } = context
    const { manifest_set_id, share_set_id } = await requireTvcApp(context, appId)
    const deployments = await listDeploymentsOf(tx, organizationId, appId)
    await deleteDeployments(
      tx,
      organizationId,
      deployments.map(({ id }) => id),
    )
    await tvcAppTable.delete(tx, organizationId, [appId])
    const setIds = [...new Set([manifest_set_id, share_set_id])]
    const inUse = await listSetsInUse(tx, organizationId, setIds)
    await deleteTvcOperatorSets(
      tx,
      organizationId,
      setIds.filter((id) => !inUse.has(id)),
    )
    return { appId }
  },
}

export const tvcAppHandlers = {
  ACTIVITY_TYPE_CREATE_TVC_APP: create,
  ACTIVITY_TYPE_UPDATE_TVC_APP_LIVE_DEPLOYMENT: setLive,
  ACTIVITY_TYPE_DELETE_TVC_APP_AND_DEPLOYMENTS: remove,
} satisfies HandlerRows

/** A key that one share gave back would be no quorum's. */
function setsOf(intent: Wire.CreateTvcAppIntent): readonly [SetWanted, SetWanted] {
  return [
    { role: 'manifestSet', id: intent.manifestSetId, params: intent.manifestSetParams, least: 1 },
    { role: 'shareSet', id: intent.shareSetId, params: intent.shareSetParams, least: 2 },
  ]
}
