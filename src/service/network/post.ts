import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIPv6, type LookupFunction } from 'node:net'
import type { WebhookPlace } from './webhook-url.ts'

/** A receiver's answer. */
export interface PostAnswer {
  readonly status: number
  /** By its own clock, in milliseconds since the epoch, where it says so. */
  readonly date?: number
}

/** To connect and to answer (docs/protocol/webhooks.md#delivery). */
const TIMEOUT_MS = 10_000

/** Of a body that nobody reads, so that a receiver can finish a short one. */
const MAX_BODY_BYTES = 4_096

/**
 * Posts a body once and says how it was answered; a redirect is an answer. It dials the addresses of the place and no
 * other, also where the name has other addresses by now. Throws Node's own error when nobody answers in time.
 */
export async function post(
  { url, addresses }: Extract<WebhookPlace, { kind: 'open' }>,
  { headers, body, signal }: { headers: Readonly<Record<string, string>>; body: Uint8Array; signal: AbortSignal },
): Promise<PostAnswer> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(
      url,
      {
        method: 'POST',
        agent: false,
        lookup: answerWith(addresses),
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        headers: { 'Content-Type': 'application/json', ...headers, 'Content-Length': String(body.length) },
      },
      resolve,
    )
      .on('error', reject)
      .end(body)
  })
  ignoreBody(response)
  const date = Date.parse(response.headers.date ?? '')
  return { status: response.statusCode!, ...(Number.isNaN(date) ? {} : { date }) }
}

/** An address that stands in the URL itself is never looked up: it is what was judged. */
function answerWith(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  return (_host, { all }, done) => (all ? done(null, found) : done(null, found[0]!.address, found[0]!.family))
}

function ignoreBody(response: IncomingMessage): void {
  let length = 0
  response.on('error', () => {})
  response.on('data', (chunk: Uint8Array) => {
    length += chunk.length
    if (length > MAX_BODY_BYTES) response.destroy()
  })
}
