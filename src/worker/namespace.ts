import type { Connection } from '@temporalio/client'
import { isGrpcServiceError } from '@temporalio/client'

const NOT_FOUND = 5
const ALREADY_EXISTS = 6

/** Registers the namespace the first time, and keeps closed runs in it for so many days. */
export async function ensureNamespace(
  { workflowService }: Pick<Connection, 'workflowService'>,
  { namespace, retentionDays }: { readonly namespace: string; readonly retentionDays: number },
): Promise<void> {
  // The encoder takes a number where its type wants a Long.
  const workflowExecutionRetentionTtl = { seconds: retentionDays * 24 * 3_600 } as never
  const kept = await describeRetention(workflowService, namespace)
  if (kept === undefined) {
    await ignoring(ALREADY_EXISTS, () =>
      workflowService.registerNamespace({
        namespace,
        workflowExecutionRetentionPeriod: workflowExecutionRetentionTtl,
      }),
    )
  } else if (kept !== retentionDays * 24 * 3_600) {
    await workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl } })
  }
  // A namespace is known to the parts of a server about a second after it was registered; until then this fails.
  await workflowService.countWorkflowExecutions({ namespace })
}

/** In seconds; undefined for a namespace that does not exist. */
async function describeRetention(
  workflowService: Connection['workflowService'],
  namespace: string,
): Promise<number | undefined> {
  const described = await ignoring(NOT_FOUND, () => workflowService.describeNamespace({ namespace }))
  return described && Number(described.config?.workflowExecutionRetentionTtl?.seconds ?? 0)
}

async function ignoring<T>(code: number, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === code) return undefined
    throw error
  }
}
