/**
 * Spans of what passes through Temporal: a workflow's start, and each of its steps, below what began it. Headers of Temporal carry
 * the trace (in the form of its SDKs, so that others' workers go on with it); they are read by everybody who reaches Temporal, and hold
 * nothing but ids.
 */
import type { Context } from '@temporalio/activity'
import type { WorkflowClientInterceptor } from '@temporalio/client'
import { defaultPayloadConverter, type Headers } from '@temporalio/common'
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker'
import { TRACE_HEADER } from '../../workflows/trace-header.ts'
import { inSpan, isTraced, type TraceHeaders, traceHeaders } from '../telemetry/index.ts'

/** A start has a span, and hands it to the workflow. */
export const clientSpans: WorkflowClientInterceptor = {
  start: (input, next) =>
    inSpan(`start ${input.workflowType}`, () => next({ ...input, headers: withTrace(input.headers) }), AS_PRODUCER),
  signalWithStart: (input, next) =>
    inSpan(`start ${input.workflowType}`, () => next({ ...input, headers: withTrace(input.headers) }), AS_PRODUCER),
}

const AS_PRODUCER = { kind: 'producer' } as const

function withTrace(headers: Headers): Headers {
  return isTraced() ? { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(traceHeaders()) } : headers
}

/** A step has a span. */
export function createStepSpans({ info }: Context): ActivityInboundCallsInterceptor {
  return {
    execute: (input, next) =>
      inSpan(`step ${info.activityType}`, () => next(input), {
        kind: 'consumer',
        headers: readTrace(input.headers),
        attributes: {
          temporalWorkflowID: info.workflowExecution?.workflowId ?? '',
          temporalRunID: info.workflowExecution?.runId ?? '',
          temporalActivityAttempt: info.attempt,
        },
      }),
  }
}

/** What a step's headers say of a trace: anybody may have written them, and what is no trace is none. */
function readTrace(headers: Headers): TraceHeaders {
  const payload = headers[TRACE_HEADER]
  if (!isTraced() || payload === undefined) return {}
  try {
    const read: unknown = defaultPayloadConverter.fromPayload(payload)
    return typeof read === 'object' && read !== null ? (read as TraceHeaders) : {}
  } catch {
    return {}
  }
}
