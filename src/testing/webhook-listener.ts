import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Delivery } from './model.ts'

/** Takes whatever webhook comes. */
export interface WebhookListener {
  readonly url: string
  deliveries(): readonly Delivery[]
  /** Forgets all but the first so many. */
  keep(count: number): void
  close(): Promise<void>
}

/** Listens on the loopback, at any free port, and answers each delivery with 200. */
export async function listenForWebhooks(): Promise<WebhookListener> {
  let deliveries: readonly Delivery[] = []
  const server = createServer(async (request, response) => {
    const body = await readBody(request).catch(() => undefined)
    // A sender that goes away in the middle ends its own request and nothing else.
    if (body === undefined) return void response.destroy()
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    deliveries = [...deliveries, { at: new Date().toISOString(), headers, body }]
    response.end()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    deliveries: () => deliveries,
    keep(count) {
      deliveries = deliveries.slice(0, count)
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}
