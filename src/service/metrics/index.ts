/**
 * Metrics: counters and gauges in Prometheus' form, on a listener of their own.
 */
export { listenForMetrics } from './listener.ts'
export type { Metrics } from './metrics.ts'
export { openMetrics } from './open.ts'
