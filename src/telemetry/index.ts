/**
 * Telemetry: the logger interface that rooms take as an argument, the sink that a log's lines go to, spans, and the wrapper that
 * no secret gets out of. Rooms never choose where logs and traces go; the doors do.
 */

export { createLogSink, type LogSink, type LogTarget } from './log-sink.ts'
export { type Logger, silentLogger } from './logger.ts'
export { holdsLoadedKey, Secret } from './secret.ts'
export {
  beginSpan,
  inSpan,
  isTraced,
  keepTraces,
  type OpenSpan,
  type SpanOptions,
  type TraceHeaders,
  traceHeaders,
} from './trace.ts'
