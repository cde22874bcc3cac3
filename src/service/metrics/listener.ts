import { type LoopbackListener, listenOnLoopback } from '../../loopback/index.ts'
import type { Metrics } from './metrics.ts'

/** Serves `GET /metrics` on this machine alone, apart from what tenants reach. @param port 0 for any free one */
export async function listenForMetrics(metrics: Metrics, port: number): Promise<LoopbackListener> {
  const listener = await listenOnLoopback(
    { '/metrics': async () => ({ status: 200, ...(await metrics.text()) }) },
    port,
  )
  return { ...listener, url: `${listener.url}/metrics` }
}
