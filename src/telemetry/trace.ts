/**
 * Spans, by OpenTelemetry's API (opentelemetry.io/docs/specs/otel/trace/api): what is done within a span, and the spans that begin
 * meanwhile, are below it. Rooms say what their spans are; a door registers an SDK and says so here, or nobody does: then a span costs
 * nothing, and the API is not even loaded.
 *
 * A span has no text of a request, no name that a person chose and no message of an error: its attributes go to the receiver of traces.
 */
import type { Attributes, Context, Span } from '@opentelemetry/api'

type Api = typeof import('@opentelemetry/api')

/** As global as the API itself, whose SDK is one a process. */
let api: Api | undefined

/** Has spans kept from now on, by what is registered with the API. */
export function keepTraces(registered: Api): void {
  api = registered
}

/** The headers of W3C Trace Context (w3.org/TR/trace-context), by which the next process knows whose part its spans are. */
export type TraceHeaders = Readonly<Record<string, unknown>>

export interface SpanOptions {
  /** @default what happens within this process */
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer'
  readonly attributes?: Attributes
  /** What came with a request or a step from elsewhere; its span is the parent. @default the span of the moment */
  readonly headers?: TraceHeaders | undefined
}

/** A span that has begun. */
export interface OpenSpan {
  set(attributes: Attributes): void
  /** Whatever is done by this is within the span. */
  within<T>(work: () => T): T
  /** Says that it failed, by a code: never by a message. */
  fail(code: string): void
  end(): void
}

/** Whether anybody keeps traces. */
export function isTraced(): boolean {
  return api !== undefined
}

/** Does something within a span, which ends with it. */
export function inSpan<T>(name: string, work: (span: OpenSpan) => T, options: SpanOptions = {}): T {
  if (!api) return work(UNTRACED)
  const span = beginSpan(name, options)
  try {
    const result = span.within(() => work(span))
    if (!isPromise(result)) {
      span.end()
      return result
    }
    return result.then(
      (value: unknown) => {
        span.end()
        return value
      },
      (error: unknown) => {
        span.fail(codeOf(error))
        span.end()
        throw error
      },
    ) as T
  } catch (error) {
    span.fail(codeOf(error))
    span.end()
    throw error
  }
}

/** Begins a span, for what is no single call; the caller ends it. */
export function beginSpan(name: string, { kind, attributes = {}, headers }: SpanOptions = {}): OpenSpan {
  if (!api) return UNTRACED
  const { context, propagation, SpanKind, trace } = api
  const parent = headers === undefined ? context.active() : propagation.extract(context.active(), headers)
  const options = { kind: kind === undefined ? SpanKind.INTERNAL : SpanKind[KINDS[kind]], attributes }
  const span = trace.getTracer('quorate').startSpan(name, options, parent)
  return openSpan(api, span, trace.setSpan(parent, span))
}

/** What to send with a request or a step, so that what it causes is below the span of the moment. */
export function traceHeaders(): Readonly<Record<string, string>> {
  if (!api) return {}
  const headers: Record<string, string> = {}
  api.propagation.inject(api.context.active(), headers)
  return headers
}

function openSpan({ context, SpanStatusCode }: Api, span: Span, inside: Context): OpenSpan {
  return {
    set: (attributes) => void span.setAttributes(attributes),
    within: (work) => context.with(inside, work),
    fail(code) {
      span.setAttributes({ 'error.type': code })
      span.setStatus({ code: SpanStatusCode.ERROR })
    },
    end: () => span.end(),
  }
}

const UNTRACED: OpenSpan = { set() {}, within: (work) => work(), fail() {}, end() {} }

const KINDS = { server: 'SERVER', client: 'CLIENT', producer: 'PRODUCER', consumer: 'CONSUMER' } as const

/** The code of an error, or its class. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && (typeof error.code === 'string' || typeof error.code === 'number')
    ? String(error.code)
    : error.name
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
