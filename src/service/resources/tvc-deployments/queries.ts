import type { QueryContext } from '../../engine/index.ts'
import { QOS_VERSIONS, tvcImageRefused } from '../../readings.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { requireTvcApp } from '../tvc-apps/require-app.ts'
import { wireSetsOf } from '../tvc-apps/wire.ts'
import { readImageReference } from './image.ts'
import { requireDeployment } from './require-deployment.ts'
import { listApprovals, listDeploymentsOf, type TvcDeploymentRow } from './store.ts'
import { toWireTvcDeployment } from './wire.ts'

const get: QueryOf<'get_tvc_deployment'> = async (context, { deploymentId }) => {
  const [tvcDeployment] = await writeAll(context, [await requireDeployment(context, deploymentId)])
  return { tvcDeployment: tvcDeployment! }
}

const list: QueryOf<'list_tvc_app_deployments'> = async (context, { appId }) => {
  const { id } = await requireTvcApp(context, appId)
  const rows = await listDeploymentsOf(context.tx, context.organizationId, id)
  return { tvcDeployments: await writeAll(context, rows) }
}

/** No enclave runs it, so that it has said nothing. */
const getLogs: QueryOf<'get_tvc_deployment_debug_logs'> = async (context, { deploymentId }) => {
  await requireDeployment(context, deploymentId)
  return { entries: [] }
}

const getVersions: QueryOf<'get_tvc_qos_versions'> = async () => ({
  availableVersions: [...QOS_VERSIONS],
  latestVersion: QOS_VERSIONS.at(-1)!,
})

/** No registry is asked: what a reference is pinned to is what it resolves to, and a tag resolves to nothing here. */
const validateImage: QueryOf<'validate_tvc_image'> = async (_, { pivotContainerImageUrl }) => {
  const digest = readImageReference(pivotContainerImageUrl)
  if (digest === undefined) throw tvcImageRefused('this service asks no registry: pin it by its digest, `@sha256:…`')
  return { resolvedImageDigest: digest }
}

export const tvcDeploymentQueries = {
  get_tvc_deployment: get,
  list_tvc_app_deployments: list,
  get_tvc_deployment_debug_logs: getLogs,
  get_tvc_qos_versions: getVersions,
  validate_tvc_image: validateImage,
} satisfies QueryRows

/** Writes deployments of one app. */
async function writeAll(context: QueryContext, rows: readonly TvcDeploymentRow[]) {
  const [first] = rows
  if (!first) return []
  const { tx, organizationId } = context
  const app = await requireTvcApp(context, first.app_id)
  const setOf = await wireSetsOf(tx, organizationId, [app])
  const ids = rows.map(({ id }) => id)
  const approvals = Map.groupBy(await listApprovals(tx, organizationId, ids), (row) => row.deployment_id)
  return rows.map((row) => toWireTvcDeployment(row, { app, setOf, approvals: approvals.get(row.id) ?? [] }))
}
