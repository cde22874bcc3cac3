import { apiError } from '../../../protocol/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { tvcMarkedForDeletion } from '../../readings.ts'
import { type TvcDeploymentRow, tvcDeploymentTable } from './store.ts'

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

/** Throws where a deployment is marked for deletion. */
export function checkStands({ id, marked_for_deletion }: TvcDeploymentRow): void {
  if (marked_for_deletion === 1) throw tvcMarkedForDeletion(id)
}
