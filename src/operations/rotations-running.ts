/** The rotations of an organization that are not over, for those who are told of what is stuck. */
import type { RotationProgress, RunningRotation } from '../../activities/index.ts'
import { rotationWorkflowId } from '../../workflows/names.ts'
import type { ApplyPlace } from './apply.ts'
import { openOrders, rotationsOf } from './open-rotations.ts'
import { foreignEndOf } from './run-end.ts'

/** How they stand. One that has not begun, or does not answer, is left out. */
export async function progressOfRotations({
  client,
  organizationId,
  dataDir,
}: Omit<ApplyPlace, 'taskQueue'>): Promise<readonly RunningRotation[]> {
  const rotations = rotationsOf(dataDir)
  const told: RunningRotation[] = []
  for (const { rotationId, user } of await openOrders(rotations, organizationId)) {
    const kept = await rotations.getProgress(rotationId)
    if (!kept) continue
    const handle = client.workflow.getHandle(rotationWorkflowId(organizationId, user.id))
    const end = await foreignEndOf(handle).catch(() => undefined)
    // What the ledger has is as old as the last step that went well.
    const now = end === undefined ? await handle.query<RotationProgress>('progress').catch(() => undefined) : kept
    // The workflow of a user may carry out another one by now.
    if (now?.rotationId === rotationId) told.push({ ...now, ...(end === undefined ? {} : { end }) })
  }
  return told
}
