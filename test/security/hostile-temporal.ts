/**
 * A stranger who reaches Temporal and has nothing else: starts, signals, queries and terminates workflows, reads histories,
 * polls task queues. Its payloads are plain JSON, as the SDK makes them by itself.
 */
import { Client, type WorkflowHandle } from '@temporalio/client'
import type { TemporalConnections } from '../../src/worker/index.ts'

export interface Stranger {
  readonly client: Client
  /** Starts a workflow and waits until it has ended, or has shown for `patienceMs` that it does not. */
  forge(type: string, start: ForgedStart): Promise<ForgedEnd>
  /** Everything that the histories of these workflows hold, as one text; base64 is read as well. */
  readHistories(handles: readonly WorkflowHandle[]): Promise<string>
}

export interface ForgedStart {
  readonly workflowId: string
  readonly taskQueue: string
  readonly input: unknown
  /** @default 15 s */
  readonly patienceMs?: number
}

export interface ForgedEnd {
  readonly handle: WorkflowHandle
  /** `RUNNING` where it had not ended when patience was; it is terminated then. */
  readonly status: string
}

/** Takes a connection that somebody else opened: certificates are no defence against a holder of one. */
export function strangerAt({ client: { connection }, namespace }: TemporalConnections): Stranger {
  return strangerWith(new Client({ connection, namespace }))
}

/** The same with the key of the payloads, which an insider or a thief may have. */
export function insiderAt({ client }: TemporalConnections): Stranger {
  return strangerWith(client)
}

/** Resets a workflow to its first task, as anybody may who reaches Temporal, and gives what comes of it, or the error that it ends with. */
export async function resetAtTemporal({ client, namespace }: TemporalConnections, workflowId: string): Promise<object> {
  const { runId } = await client.workflow.getHandle(workflowId).describe()
  await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: 4 as never,
    requestId: `reset ${runId}`,
  })
  const again = client.workflow.getHandle(workflowId)
  if ((await again.describe()).runId === runId) throw new Error(`${workflowId} was not reset`)
  return (await again.result().catch((error: unknown) => error)) as object
}

function strangerWith(client: Client): Stranger {
  return {
    client,
    async forge(type, { workflowId, taskQueue, input, patienceMs = 120_000 }) {
      const handle = await client.workflow.start(type, {
        workflowId,
        taskQueue,
        args: [input],
        workflowIdConflictPolicy: 'TERMINATE_EXISTING',
      })
      for (const until = Date.now() + patienceMs; ; ) {
        const { status } = await handle.describe()
        if (status.name !== 'RUNNING') return { handle, status: status.name }
        if (Date.now() > until) {
          await handle.terminate()
          return { handle, status: 'RUNNING' }
        }
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    },
    async readHistories(handles) {
      const histories = await Promise.all(handles.map((handle) => handle.fetchHistory()))
      return readable(histories)
    },
  }
}

/** A value as text, with what is bytes in it as the text that they may be. */
function readable(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (Array.isArray(value)) return value.map(readable).join('\n')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${readable(member)}`)
    .join('\n')
}
