import { type LoopbackListener, listenOnLoopback, readable } from '../../loopback/index.ts'
import type { Metrics } from './metrics.ts'

/** Serves `GET /metrics` on this machine alone, apart from what tenants reach. @param port 0 for any free one */
export async function listenForMetrics(metrics: Metrics, port: number): Promise<LoopbackListener> {
  const pages = readable({ '/metrics': async () => ({ status: 200, ...(await metrics.text()) }) })
  const listener = await listenOnLoopback(pages, { port })
  return { ...listener, url: `${listener.url}/metrics` }
}
