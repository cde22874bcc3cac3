/**
 * Telemetry: the logger interface that rooms take as an argument, the sink that a log's lines go to, and the wrapper that
 * no secret gets out of. Rooms never choose where logs go; the doors do.
 */

export { holdsLoadedKey } from './leak.ts'
export { createLogSink, type LogSink, type LogTarget } from './log-sink.ts'
export { type Logger, silentLogger } from './logger.ts'
export { Secret } from './secret.ts'
