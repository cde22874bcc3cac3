/**
 * Telemetry: the logger interface that rooms take as an argument, and the wrapper that no secret gets out of.
 * Rooms never choose where logs go; the doors do.
 */
export { type Logger, silentLogger } from './logger.ts'
export { Secret } from './secret.ts'
