/** The rotations of an organization that are not over, for those who are told of what is stuck. */
import type { RotationProgress, RunningRotation } from '../../activities/index.ts'
import { rotationWorkflowId } from '../../workflows/names.ts'
import type { ApplyPlace } from './apply.ts'
import { begunOrders, rotationsOf } from './open-rotations.ts'
import { foreignEndOf } from './run-end.ts'

/** How they stand. One that has not begun, or does not answer, is left out. */
export async function progressOfRotations({
  client,
  organizationId,
  dataDir,
}: Omit<ApplyPlace, 'taskQueue'>): Promise<readonly RunningRotation[]> {
  const told: RunningRotation[] = []
  for (const { order, progress: kept } of await begunOrders(rotationsOf(dataDir), organizationId)) {
    const { rotationId, user } = order
    const handle = client.workflow.getHandle(rotationWorkflowId(organizationId, user.id))
    const end = await foreignEndOf(handle).catch(() => undefined)
    // What the ledger has is as old as the last step that went well.
    const now = end === undefined ? await handle.query<RotationProgress>('progress').catch(() => undefined) : kept
    // The workflow of a user may carry out another one by now.
    if (now?.rotationId === rotationId) told.push({ ...now, ...(end === undefined ? {} : { end }) })
  }
  return told
}
