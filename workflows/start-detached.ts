import { ChildWorkflowCancellationType, ParentClosePolicy, startChild } from '@temporalio/workflow'

/** Begins a workflow that goes on when the one that begins it has ended. Whether it was begun: not where one of its id runs. */
export async function startDetached<Input>(
  workflow: 'apply' | 'applyInside' | 'send',
  { workflowId, input }: { readonly workflowId: string; readonly input: Input },
): Promise<boolean> {
  try {
    await startChild(workflow, {
      workflowId,
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
    })
    return true
  } catch (error) {
    if (error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError') return false
    throw error
  }
}
