import type { Metrics } from './metrics.ts'

/** Metrics, where a port for them is given: the library for them is loaded only then. */
export async function openMetrics(port: number | undefined): Promise<Metrics | undefined> {
  return port === undefined ? undefined : (await import('./metrics.ts')).createMetrics()
}
