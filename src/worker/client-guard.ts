import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { WorkflowClientInterceptor, WorkflowService } from '@temporalio/client'
import { KEY_MISSING } from '../../workflows/sealed.ts'
import { isPayloadRefused, keyMissing, keyMissingThere, payloadRefused } from './key-missing.ts'
import { keyIdOf, type PayloadSeal } from './payload-seal.ts'

/** How often a question is asked again that somebody else than our worker answered. */
const MOST_ASKED = 20
const ASK_AGAIN_MS = 250

/** How long it is looked for why a question has no answer. */
const EXPLAINED_MS = 5_000
/** Codes of gRPC: cancelled, deadline exceeded, and failed precondition, which is what Temporal says while workflow tasks fail. */
const UNANSWERED = [1, 4, 9]

interface GuardPlace {
  readonly seal: PayloadSeal
  readonly workflowService: Pick<WorkflowService, 'getWorkflowExecutionHistory' | 'getWorkflowExecutionHistoryReverse'>
  readonly namespace: string
}

type Execution = { readonly workflowId?: string | null; readonly runId?: string | null }

/**
 * The client's half of what guards workflows: signals carry their name sealed, so that workflows can tell them from those that
 * anybody sends, and each question has a nonce that its answer must repeat, so that nobody answers with what was true before.
 * A question that nobody can answer since a payload key is missing says which one, and where.
 */
export function createClientGuard({ seal, workflowService, namespace }: GuardPlace): WorkflowClientInterceptor {
  /** The id of the key that the start of a workflow was sealed with. */
  const keyOfStart = async (execution: Execution): Promise<string | undefined> => {
    const { history } = await workflowService.getWorkflowExecutionHistory({ namespace, execution, maximumPageSize: 1 })
    const [payload] = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? []
    return payload ? keyIdOf(payload) : undefined
  }
  /** Whether the worker that took the last workflow task failed at it since it lacks a key: it seals with another, or says so. */
  const hasFailedForKey = async (execution: Execution): Promise<boolean> => {
    const asked = { namespace, execution, maximumPageSize: 10 }
    const { history } = await workflowService.getWorkflowExecutionHistoryReverse(asked)
    const last = history?.events?.find(
      (one) => one.workflowTaskFailedEventAttributes ?? one.workflowTaskCompletedEventAttributes,
    )
    const payload = last?.workflowTaskFailedEventAttributes?.failure?.encodedAttributes
    if (!payload) return false
    const keyId = keyIdOf(payload)
    if (keyId !== undefined && !seal.keyIds.includes(keyId)) return true
    const said = seal.openAsNamed(payload)?.data
    return said != null && Buffer.from(said).toString().includes(KEY_MISSING)
  }
  const explain = async (error: unknown, execution: Execution): Promise<unknown> => {
    const { name, message, cause } = (error ?? {}) as Partial<Error>
    const code = (cause as { readonly code?: number } | undefined)?.code ?? 0
    const isUnanswered = name === 'ServiceError' && UNANSWERED.includes(code)
    if (name !== 'QueryNotRegisteredError' && !isUnanswered) return error
    const keyId = await keyOfStart(execution)
    const { workflowId } = execution
    if (keyId === undefined) return error
    if (!seal.keyIds.includes(keyId)) return keyMissing(`\`${workflowId}\``, keyId, seal)
    // A workflow seals what it says of a question that it refuses.
    const isOfKey = isUnanswered ? await hasFailedForKey(execution) : message === 'sealed'
    return isOfKey ? keyMissingThere(workflowId ?? '', keyId, seal) : error
  }
  const explainSoon = (error: unknown, execution: Execution) =>
    Promise.race([explain(error, execution).catch(() => error), delay(EXPLAINED_MS, error, { ref: false })])
  return {
    signal: (input, next) => next({ ...input, args: [{ signal: input.signalName, args: input.args }] }),
    signalWithStart: (input, next) =>
      next({ ...input, signalArgs: [{ signal: input.signalName, args: input.signalArgs }] }),
    async query(input, next) {
      const { workflowExecution: execution } = input
      for (let asked = 1; ; asked++) {
        const nonce = randomUUID()
        const args = [{ query: input.queryType, nonce, args: input.args ?? [] }]
        let missing: string | undefined
        const answered = await next({ ...input, args }).catch(async (error: unknown) => {
          if (!isPayloadRefused(error)) throw await explainSoon(error, execution)
          missing = error.facts['missing'] as string | undefined
          return undefined
        })
        const { nonce: repeated, answer } = (answered ?? {}) as { readonly nonce?: string; readonly answer?: unknown }
        if (repeated === nonce) return answer
        if (asked === MOST_ASKED) {
          const id = execution.workflowId ?? ''
          if (missing !== undefined) throw keyMissing(`the answer for \`${id}\``, missing, seal)
          throw payloadRefused(`what answers for \`${id}\` has no key of this data folder`)
        }
        await delay(ASK_AGAIN_MS)
      }
    },
  }
}
