import { toTimestamp } from '../../../protocol/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { listDeploymentsOf } from '../tvc-deployments/store.ts'
import { requireTvcApp } from './require-app.ts'
import { tvcAppTable } from './store.ts'
import { toWireTvcApp, wireSetsOf } from './wire.ts'

const get: QueryOf<'get_tvc_app'> = async (context, { tvcAppId }) => {
  const { tx, organizationId } = context
  const app = await requireTvcApp(context, tvcAppId)
  return { tvcApp: toWireTvcApp(app, await wireSetsOf(tx, organizationId, [app])) }
}

const list: QueryOf<'list_tvc_apps'> = async ({ tx, organizationId }) => {
  const apps = await tvcAppTable.list(tx, organizationId)
  const setOf = await wireSetsOf(tx, organizationId, apps)
  return { tvcApps: apps.map((app) => toWireTvcApp(app, setOf)) }
}

/** No enclave runs any of them: none of the replicas that are wanted is ready (docs/protocol/tvc.md). */
const getStatus: QueryOf<'get_app_status'> = async (context, { appId }) => {
  const { live_deployment_id } = await requireTvcApp(context, appId)
  const deployments = await listDeploymentsOf(context.tx, context.organizationId, appId)
  return {
    appStatus: {
      appId,
      deployments: deployments.map((row) => ({
        deploymentId: row.id,
        readyReplicas: 0,
        desiredReplicas: row.marked_for_deletion === 1 ? 0 : row.replicas,
        lastUpdatedTime: toTimestamp(row.updated_at),
      })),
      targetedDeploymentId: live_deployment_id ?? '',
    },
  }
}

export const tvcAppQueries = { get_tvc_app: get, list_tvc_apps: list, get_app_status: getStatus } satisfies QueryRows
