import type { IncomingHttpHeaders } from 'node:http'
import { explainSystemError } from '../local/index.ts'
import { type LoopbackListener, listenOnLoopback } from '../loopback/index.ts'

/** What came to the receiver. */
export interface CameIn {
  readonly headers: IncomingHttpHeaders
  /** Byte for byte. */
  readonly body: Uint8Array
}

/** Above any webhook: an activity has at most some MB. */
const MOST_BYTES = 64 * 1024 * 1024
/** A service sends many at a time. */
const MOST_CONNECTIONS = 256

/**
 * Listens on a port of 127.0.0.1; only a `POST` to this path is anything. What comes is signed, so it may come through a proxy,
 * under whatever name that has.
 * @param take answers with an HTTP status; where it throws, a service sends it again
 */
export async function startWebhookReceiver(
  { port, path }: { readonly port: number; readonly path: string },
  take: (came: CameIn) => Promise<number>,
): Promise<LoopbackListener> {
  return listenOnLoopback(
    async ({ method, target, headers, body }) => {
      if (method !== 'POST' || target !== path) return undefined
      const bytes = await body()
      return { status: bytes === undefined ? 413 : await take({ headers, body: bytes }) }
    },
    { port, mostBytes: MOST_BYTES, mostConnections: MOST_CONNECTIONS, anyName: true },
  ).catch((error: unknown) => {
    throw explainSystemError(error, { doing: 'nothing listens for webhooks' })
  })
}
