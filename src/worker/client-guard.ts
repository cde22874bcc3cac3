import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { WorkflowClientInterceptor } from '@temporalio/client'
import { PayloadRefused } from '../../workflows/sealed.ts'
import { WorkerError } from './error.ts'

/** How often a question is asked again that somebody else than our worker answered. */
const MOST_ASKED = 20
const ASK_AGAIN_MS = 250

/**
 * The client's half of what guards workflows: signals carry their name sealed, so that workflows can tell them from those that
 * anybody sends, and each question has a nonce that its answer must repeat, so that nobody answers with what was true before.
 */
export const clientGuard: WorkflowClientInterceptor = {
  signal: (input, next) => next({ ...input, args: [{ signal: input.signalName, args: input.args }] }),
  signalWithStart: (input, next) =>
    next({ ...input, signalArgs: [{ signal: input.signalName, args: input.signalArgs }] }),
  async query(input, next) {
    for (let asked = 1; ; asked++) {
      const nonce = randomUUID()
      const args = [{ query: input.queryType, nonce, args: input.args ?? [] }]
      const answered = await next({ ...input, args }).catch((error: unknown) => {
        if (error instanceof PayloadRefused) return undefined
        throw error
      })
      const { nonce: repeated, answer } = (answered ?? {}) as { readonly nonce?: string; readonly answer?: unknown }
      if (repeated === nonce) return answer
      if (asked === MOST_ASKED) throw answerRefused(input.workflowExecution.workflowId ?? '')
      await delay(ASK_AGAIN_MS)
    }
  },
}

function answerRefused(workflowId: string): WorkerError {
  return new WorkerError(
    'worker/payload-refused',
    `what answers for \`${workflowId}\` has no key of this data folder`,
    {
      facts: { submitted: 'nothing by this command' },
    },
  )
}
