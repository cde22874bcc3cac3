import type { Payload } from '@temporalio/common'
import type { PayloadSeal } from '../src/worker/index.ts'

/** What the payloads of a history say, one a line, to a holder of the key. Of a payload that it does not open, nothing. */
export async function openHistory(
  history: unknown,
  workflowId: string,
  { codec }: PayloadSeal,
  namespace = 'default',
): Promise<string> {
  const payloads: Payload[] = []
  const steps = new Set<string>()
  collect(history, payloads, steps)
  const places = [
    { type: 'workflow', namespace, workflowId } as const,
    ...[...steps].map(
      (activityId) => ({ type: 'activity', namespace, workflowId, activityId, isLocal: false }) as const,
    ),
  ]
  const opened = await Promise.all(
    payloads.map(async (payload) => {
      const tries = await Promise.all(places.map((place) => codec.decode([payload], place)))
      return tries.map(([one]) => Buffer.from(one!.data ?? []).toString()).join('')
    }),
  )
  return opened.join('\n')
}

function collect(value: unknown, payloads: Payload[], steps: Set<string>): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return
  const { metadata, data, activityId } = value as { metadata?: object; data?: unknown; activityId?: unknown }
  if (typeof activityId === 'string') steps.add(activityId)
  if (metadata && data instanceof Uint8Array) payloads.push(value as Payload)
  for (const member of Object.values(value)) collect(member, payloads, steps)
}
