import { apiError } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { tvcMarkedForDeletion, tvcNotApproved } from '../../readings.ts'
import { requireTvcApp } from '../tvc-apps/require-app.ts'
import type { TvcAppRow } from '../tvc-apps/store.ts'
import { findTvcOperatorSets } from '../tvc-operators/store.ts'
import { countApprovals, type TvcDeploymentRow, tvcDeploymentTable } from './store.ts'

type Context = Pick<HandlerContext, 'tx' | 'organizationId'>

/** Reads a deployment, or throws. */
export async function requireDeployment({ tx, organizationId }: Context, id: string): Promise<TvcDeploymentRow> {
  const row = await tvcDeploymentTable.find(tx, organizationId, id)
  if (!row) throw apiError('notFound', 'TVC deployment', id)
  return row
}

/** Reads one that is not marked for deletion, or throws. */
export async function requireStandingDeployment(context: Context, id: string): Promise<TvcDeploymentRow> {
  const row = await requireDeployment(context, id)
  checkStands(row)
  return row
}

/** A deployment whose manifest as many operators have approved as the threshold of the app's manifest set says. */
export interface ApprovedDeployment {
  readonly deployment: TvcDeploymentRow
  readonly app: TvcAppRow
}

/** Reads an approved deployment that is not marked for deletion, or throws. */
export async function requireApprovedDeployment(context: Context, id: string): Promise<ApprovedDeployment> {
  const { tx, organizationId } = context
  const deployment = await requireStandingDeployment(context, id)
  const app = await requireTvcApp(context, deployment.app_id)
  const { threshold } = (await findTvcOperatorSets(tx, organizationId, [app.manifest_set_id])).get(app.manifest_set_id)!
  const present = await countApprovals(tx, organizationId, id)
  if (present < threshold) throw tvcNotApproved(id, { present, threshold })
  return { deployment, app }
}

/** Throws where a deployment is marked for deletion. */
export function checkStands({ id, marked_for_deletion }: TvcDeploymentRow): void {
  if (marked_for_deletion === 1) throw tvcMarkedForDeletion(id)
}
