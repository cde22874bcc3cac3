import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from './metrics.ts'

export interface MetricsListener {
  readonly url: string
  close(): Promise<void>
}

/** A page of another site may have its name lead to this machine: then its browser asks for that name. */
const OWN_NAME = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

/** Metrics are read by one or two programs, quickly. */
const MOST_CONNECTIONS = 16
const TAKES_MS = 5_000

/** Serves `GET /metrics` on this machine alone, apart from what tenants reach. @param port 0 for any free one */
export async function listenForMetrics(metrics: Metrics, port: number): Promise<MetricsListener> {
  const timeouts = { headersTimeout: TAKES_MS, requestTimeout: TAKES_MS, connectionsCheckingInterval: 1_000 }
  const server = createServer(timeouts, async ({ method, url, headers }, response) => {
    const end = (status: number, body = '', type = 'text/plain') =>
      response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(body)
    if (!OWN_NAME.test(headers.host ?? '')) return end(421)
    if (url?.split('?', 1)[0] !== '/metrics') return end(404)
    if (method !== 'GET') return end(405)
    try {
      const { type, text } = await metrics.text()
      return end(200, text, type)
    } catch {
      return end(500)
    }
  })
  server.maxConnections = MOST_CONNECTIONS
  const listening = Promise.withResolvers<void>()
  server.once('error', listening.reject)
  server.listen({ host: '127.0.0.1', port }, listening.resolve)
  await listening.promise
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
