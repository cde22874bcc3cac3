/** The sends of an organization that run, for those who are told of what is stuck. */
import type { SendProgress } from '../../activities/index.ts'
import type { send } from '../../workflows/index.ts'
import { sendWorkflowId } from '../../workflows/names.ts'
import type { ApplyPlace } from './apply.ts'

/** Each is a question to its workflow, at every look. */
const MOST_ASKED = 200

/** How they stand; of many the oldest. One that does not answer, or ends meanwhile, is left out. */
export async function progressOfSends({
  client,
  taskQueue,
  organizationId,
}: Omit<ApplyPlace, 'dataDir'>): Promise<readonly SendProgress[]> {
  const query = `TaskQueue = '${taskQueue}' AND WorkflowType = 'send' AND ExecutionStatus = 'Running'`
  const found: { readonly workflowId: string; readonly startTime: Date }[] = []
  const prefix = sendWorkflowId(organizationId, '')
  for await (const one of client.workflow.list({ query })) if (one.workflowId.startsWith(prefix)) found.push(one)
  const oldest = found.toSorted((a, b) => Number(a.startTime) - Number(b.startTime)).slice(0, MOST_ASKED)
  const told: SendProgress[] = []
  for (const { workflowId } of oldest) {
    const handle = client.workflow.getHandle<typeof send>(workflowId)
    const progress = await handle.query<SendProgress>('progress').catch(() => undefined)
    if (progress) told.push({ ...progress, sendId: workflowId.slice(prefix.length) })
  }
  return told
}
