/**
 * Stands between a workflow and whatever Temporal says: a start that was not sealed ends at once, a signal that was not sealed
 * is dropped, a query is refused, and a step's answer or failure that was not sealed is no answer: the step is done again.
 * Each step has an id that no other step ever had, to which the codec binds its answer, so that an old one is not taken for it.
 *
 * The trace that a start belongs to goes on to its steps and children; it is read by nobody here.
 *
 * A history of before was recorded in clear and is replayed without a codec: there everything is as it was.
 */
import {
  ActivityFailure,
  type ActivityInput,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  type ContinueAsNewInput,
  type Headers,
  log,
  type Next,
  type QueryInput,
  type SignalInput,
  type SignalWorkflowInput,
  type StartChildWorkflowExecutionInput,
  uuid4,
  type WorkflowExecuteInput,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  type WorkflowOutboundCallsInterceptor,
  workflowInfo,
} from '@temporalio/workflow'
import { isSealed, KEY_MISSING, RefusedPayload } from './sealed.ts'
import { TRACE_HEADER } from './trace-header.ts'

export const interceptors = (): WorkflowInterceptors => {
  const guard = new Guard()
  const trace = new Trace()
  return { inbound: [trace, guard], outbound: [trace, guard] }
}

class Trace implements WorkflowInboundCallsInterceptor, WorkflowOutboundCallsInterceptor {
  #headers: Headers = {}

  async execute(input: WorkflowExecuteInput, next: Next<WorkflowInboundCallsInterceptor, 'execute'>): Promise<unknown> {
    const trace = input.headers[TRACE_HEADER]
    if (trace !== undefined) this.#headers = { [TRACE_HEADER]: trace }
    return next(input)
  }

  async scheduleActivity(
    input: ActivityInput,
    next: Next<WorkflowOutboundCallsInterceptor, 'scheduleActivity'>,
  ): Promise<unknown> {
    return next(this.#handOn(input))
  }

  async startChildWorkflowExecution(
    input: StartChildWorkflowExecutionInput,
    next: Next<WorkflowOutboundCallsInterceptor, 'startChildWorkflowExecution'>,
  ): Promise<[Promise<string>, Promise<unknown>]> {
    return next(this.#handOn(input))
  }

  async continueAsNew(
    input: ContinueAsNewInput,
    next: Next<WorkflowOutboundCallsInterceptor, 'continueAsNew'>,
  ): Promise<never> {
    return next(this.#handOn(input))
  }

  #handOn<Input extends { readonly headers: Headers }>(input: Input): Input {
    return { ...input, headers: { ...input.headers, ...this.#headers } }
  }
}

class Guard implements WorkflowInboundCallsInterceptor, WorkflowOutboundCallsInterceptor {
  #isSealed = false
  #hasDropped = false

  async execute(input: WorkflowExecuteInput, next: Next<WorkflowInboundCallsInterceptor, 'execute'>): Promise<unknown> {
    if (input.args.length === 0 || input.args.some((one) => one instanceof RefusedPayload)) {
      // It has begun, so another worker could read it: it waits for one that can, and says so to who asks.
      if (workflowInfo().unsafe.isReplaying) throw new Error(KEY_MISSING)
      throw ApplicationFailure.nonRetryable(
        'the start of this workflow was not sealed with a key of the data folder',
        'apply/start-refused',
      )
    }
    this.#isSealed = input.args.every(isSealed)
    return next(input)
  }

  async handleSignal(input: SignalInput, next: Next<WorkflowInboundCallsInterceptor, 'handleSignal'>): Promise<void> {
    if (!this.#isSealed) return next(input)
    const [told] = input.args
    if (isSealed(told) && told['signal'] === input.signalName && Array.isArray(told['args'])) {
      return next({ ...input, args: told['args'] })
    }
    if (!this.#hasDropped) log.warn('a signal was dropped: it was not sealed with a key of the data folder')
    this.#hasDropped = true
  }

  async handleQuery(input: QueryInput, next: Next<WorkflowInboundCallsInterceptor, 'handleQuery'>): Promise<unknown> {
    if (!this.#isSealed) return next(input)
    const [asked] = input.args
    if (!isSealed(asked) || asked['query'] !== input.queryName || !Array.isArray(asked['args'])) {
      throw ApplicationFailure.nonRetryable('the query was not sealed with a key of the data folder')
    }
    // The nonce makes the answer one to this very question.
    return { nonce: asked['nonce'], answer: await next({ ...input, args: asked['args'] }) }
  }

  async scheduleActivity(
    input: ActivityInput,
    next: Next<WorkflowOutboundCallsInterceptor, 'scheduleActivity'>,
  ): Promise<unknown> {
    if (!this.#isSealed) return next(input)
    const scope = CancellationScope.current()
    const options = { ...input.options, activityId: uuid4() }
    const answer = await next({ ...input, options }).catch((error: unknown) => {
      const cause = error instanceof ActivityFailure ? error.cause : undefined
      const isForeign =
        (cause instanceof ApplicationFailure && !isSealed(cause)) ||
        (cause instanceof CancelledFailure && !scope.consideredCancelled)
      throw isForeign ? answerRefused() : error
    })
    if (!isSealed(answer)) throw answerRefused()
    return answer['result']
  }

  async signalWorkflow(
    input: SignalWorkflowInput,
    next: Next<WorkflowOutboundCallsInterceptor, 'signalWorkflow'>,
  ): Promise<void> {
    if (!this.#isSealed) return next(input)
    return next({ ...input, args: [{ signal: input.signalName, args: input.args }] })
  }
}

function answerRefused(): ApplicationFailure {
  return ApplicationFailure.retryable(
    'the answer to a step was not sealed with a key of the data folder: it is no answer, and the step is done again',
    'apply/answer-refused',
  )
}
