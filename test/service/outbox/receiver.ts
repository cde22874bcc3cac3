import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { verifyTurnkeyWebhookSignature } from '@turnkey/crypto'
import { decodeBase64, encodeHex } from '../../../src/encoding/index.ts'
import type { JsonObject } from '../../../src/protocol/index.ts'
import { complete } from '../handlers/steps.ts'
import type { TestClient } from '../harness.ts'

/** What came to a receiver. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: Uint8Array
  readonly body: JsonObject
  readonly eventId: string
  /** By the machine's clock. */
  readonly at: number
}

/** A server on loopback that webhooks are sent to. */
export interface Receiver {
  readonly url: string
  /** With its port: what `--allow-webhook-host` takes. */
  readonly host: string
  readonly received: Received[]
  /** Waits until so many have come, or what is asked for holds. */
  until(wanted: number | ((received: readonly Received[]) => boolean)): Promise<readonly Received[]>
  close(): Promise<void>
}

/**
 * How a receiver answers: a status, headers too, by breaking the connection, with 200 and a body that breaks off before the length
 * that was promised, with what is no HTTP, or never.
 */
export type Reply =
  | number
  | { readonly status: number; readonly headers: Record<string, string> }
  | 'reset'
  | 'cut'
  | 'gibberish'
  | 'never'

/** Starts a receiver that answers 200, or as it is told by what came and by how often that event has come. */
export async function startReceiver(
  reply: (received: Received, times: number) => Reply | Promise<Reply> = () => 200,
  tls?: { readonly key: string; readonly cert: string },
): Promise<Receiver> {
  const received: Received[] = []
  const times = new Map<string, number>()
  const listener: RequestListener = async (request, response) => {
    const bytes = await buffer(request)
    const eventId = String(request.headers['x-turnkey-event-id'])
    const one: Received = {
      path: request.url!,
      headers: request.headers,
      bytes,
      body: JSON.parse(bytes.toString()) as JsonObject,
      eventId,
      at: Date.now(),
    }
    received.push(one)
    times.set(eventId, (times.get(eventId) ?? 0) + 1)
    const answer = await reply(one, times.get(eventId)!)
    if (answer === 'never') return
    if (answer === 'reset') return void response.destroy()
    if (answer === 'cut' || answer === 'gibberish') {
      const text = answer === 'cut' ? 'HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n{' : 'it is done\r\n\r\n'
      return void request.socket.end(text)
    }
    const { status, headers } = typeof answer === 'number' ? { status: answer, headers: {} } : answer
    response.sendDate = false
    response.writeHead(status, headers).end('{}')
  }
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${tls ? 'https' : 'http'}://${host}`,
    host,
    received,
    async until(wanted) {
      const holds = typeof wanted === 'number' ? () => received.length >= wanted : () => wanted(received)
      while (!holds()) await pause(10)
      return received
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The keys that a service publishes, as the public verifier takes them. */
export async function fetchKeys(serviceUrl: string): Promise<{ keyId: string; publicKey: string }[]> {
  const response = await fetch(`${serviceUrl}/public/v1/discovery/webhooks/jwks`)
  const { keys } = (await response.json()) as { keys: { kid: string; x: string }[] }
  return keys.map(({ kid, x }) => ({ keyId: kid, publicKey: encodeHex(decodeBase64(x)) }))
}

/** What the public verifier says of what came: `ok`, or why not. */
export function verdictOf(
  { headers, bytes: body, at }: Received,
  verificationKeys: { keyId: string; publicKey: string }[],
  nowMs = at,
): string {
  const verdict = verifyTurnkeyWebhookSignature({
    headers,
    body,
    verificationKeys,
    maxTimestampAgeMs: 300_000,
    nowMs,
  })
  return verdict.ok ? 'ok' : verdict.reason
}

export const SEND_STATUS = 'SEND_TRANSACTION_STATUS_UPDATES'

/** Makes an endpoint that is told of sends, and returns its id. */
export async function subscribe(
  client: TestClient,
  url: string,
  { name = 'ops', eventType = SEND_STATUS, isActive = true, organizationId = undefined as string | undefined } = {},
): Promise<string> {
  const parameters = { url, name, subscriptions: [{ eventType, isActive }] }
  const made = await complete(client, 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', parameters, organizationId)
  return made.endpointId
}
