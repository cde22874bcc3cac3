import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { explainSystemError } from '../local/index.ts'

/** What came to the receiver. */
export interface CameIn {
  readonly headers: IncomingHttpHeaders
  /** Byte for byte. */
  readonly body: Uint8Array
}

/** A server on 127.0.0.1 that webhooks are sent to. */
export interface WebhookReceiver {
  readonly port: number
  close(): Promise<void>
}

/** Above any webhook: an activity has at most some MB. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Listens on a port of 127.0.0.1; only a `POST` to this path is anything.
 * @param take answers with an HTTP status
 */
export async function startWebhookReceiver(
  { port, path }: { readonly port: number; readonly path: string },
  take: (came: CameIn) => Promise<number>,
): Promise<WebhookReceiver> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST' || request.url !== path) return void response.writeHead(404).end()
    const parts: Buffer[] = []
    let bytes = 0
    try {
      for await (const part of request as AsyncIterable<Buffer>) {
        bytes += part.length
        if (bytes > MOST_BYTES) return void response.writeHead(413, { connection: 'close' }).end()
        parts.push(part)
      }
      response.writeHead(await take({ headers: request.headers, body: Buffer.concat(parts) })).end()
    } catch {
      // The sender has gone, or what was to be done with it did not work: it will come again.
      response.destroy()
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  }).catch((error: unknown) => {
    throw explainSystemError(error, { doing: 'nothing listens for webhooks' })
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
        // What is being answered may end; nobody waits for more.
        setTimeout(() => server.closeAllConnections(), 1_000).unref()
      }),
  }
}
