import { isLoopback } from '../local/index.ts'
import { inSpan, traceHeaders } from '../telemetry/index.ts'
import { ClientError } from './error.ts'
import { NotConnected, type Post, type Posted } from './post.ts'

/** How long one attempt may take, from connecting to the last byte of the answer. */
export const ATTEMPT_MS = 30_000

/** The raw answer. */
export interface HttpAnswer {
  readonly status: number
  readonly text: string
  readonly contentType: string
  /** The service's `Date`, when it sent a readable one: milliseconds since the epoch. */
  readonly date?: number
  readonly retryAfterMs?: number
}

export interface Attempt {
  readonly url: string
  readonly body: string
  /** The header that says who asks, for these very bytes. */
  readonly stamp: { readonly name: string; readonly value: string }
  readonly post: Post
  readonly attemptMs: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends a body once, with its stamp. Throws `client/unreachable` when no whole answer comes, `client/cancelled` when
 * the caller gives up. Redirects are not followed: a stamp is for the API that was configured, nobody else.
 */
export async function sendOnce(attempt: Attempt): Promise<HttpAnswer> {
  const attributes = { 'http.request.method': 'POST', 'server.address': new URL(attempt.url).host }
  return inSpan(
    `POST ${new URL(attempt.url).pathname}`,
    async (span) => {
      const answer = await send(attempt)
      span.set({ 'http.response.status_code': answer.status })
      return answer
    },
    { kind: 'client', attributes },
  )
}

async function send(attempt: Attempt): Promise<HttpAnswer> {
  const { url, body, stamp, attemptMs, signal } = attempt
  const deadline = AbortSignal.timeout(attemptMs)
  try {
    const headers = { 'content-type': 'application/json', [stamp.name]: stamp.value, ...traceHeaders() }
    const posted = await attempt.post(url, body, {
      headers,
      signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
    })
    if (posted.status >= 300 && posted.status < 400) {
      throw new Redirected(`it redirects to \`${posted.headers['location'] ?? 'nowhere'}\`, which is not followed`)
    }
    return toAnswer(posted)
  } catch (error) {
    throw signal?.aborted ? cancelled(url, error, 'unknown') : unreachable(url, attemptMs, error)
  }
}

function toAnswer({ status, headers, text }: Posted): HttpAnswer {
  const date = Date.parse(headers['date'] ?? '')
  const retryAfterMs = parseRetryAfter(headers['retry-after'], date)
  return {
    status,
    text,
    contentType: headers['content-type'] ?? '',
    ...(Number.isNaN(date) ? {} : { date }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

/** Seconds, or a date counted from the answer's own (RFC 9110 §10.2.3). */
function parseRetryAfter(value: string | undefined, date: number): number | undefined {
  if (value === undefined) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) || Number.isNaN(date) ? undefined : Math.max(0, at - date)
}

function unreachable(url: string, attemptMs: number, error: unknown): ClientError {
  const { origin } = new URL(url)
  const notConnected = error instanceof NotConnected
  const timedOut = [error, error instanceof Error && error.cause].some(isTimeout)
  const reason = timedOut ? `no answer within ${attemptMs / 1000} s` : reasonOf(error)
  const standing = standingFault(error, reason, new URL(url))
  return new ClientError('client/unreachable', `cannot reach the API at \`${origin}\`: ${reason}`, {
    facts: { url, reason },
    submitted: notConnected ? 'no' : 'unknown',
    persistent: standing !== undefined,
    next: standing ?? passingFault(reason, new URL(url)),
    cause: error,
  })
}

const isTimeout = (error: unknown) => error instanceof Error && error.name === 'TimeoutError'

/** Thrown for an answer that sends the request elsewhere. */
class Redirected extends Error {}

/** What to do about a fault that the next try meets too, by the reason; undefined for one that may pass. */
function standingFault(error: unknown, reason: string, { hostname, protocol, host }: URL): string | undefined {
  if (error instanceof Redirected) return 'correct the base URL: a request is stamped for the API that it names'
  if (reason === 'ENOTFOUND')
    return `no host is called \`${hostname}\` here: correct the base URL, or the name service of this machine`
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|EPROTO/.test(reason) && protocol === 'https:')
    return `what listens there speaks no TLS: the base URL may be \`http://${host}\``
  if (/HTTP\/1\.1 protocol|HPE_/.test(reason))
    return 'what listens there is no HTTP service: correct the port of the base URL'
  if (reason === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `its certificate is not for \`${hostname}\`: give the base URL the name that the certificate is for`
  if (/^CERT_|SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY)/.test(reason))
    return 'this machine does not trust its certificate: name the file of its authority in NODE_EXTRA_CA_CERTS, or have one made that is valid today'
  return undefined
}

function passingFault(reason: string, { protocol, host, hostname }: URL): string {
  if (reason === 'ECONNREFUSED' && isLoopback(hostname))
    return 'nothing listens at that port of this machine: start the service (`quorate serve`), or correct the base URL'
  return reason === 'ECONNRESET' && protocol === 'http:'
    ? `it closes the connection without an answer: where it speaks TLS, the base URL is \`https://${host}\``
    : 'check that the service runs and that the base URL is right (`quorate doctor` tries it)'
}

/** Whether nothing listens at a port of this machine, which is known at once and for certain. */
export function isAbsentHere({ code, facts }: ClientError): boolean {
  if (code !== 'client/unreachable' || facts['reason'] !== 'ECONNREFUSED') return false
  return isLoopback(new URL(String(facts['url'])).hostname)
}

/** Says that the caller gave up: before anything was sent, or with the outcome open. */
export function cancelled(url: string, cause: unknown, submitted: 'no' | 'unknown'): ClientError {
  return new ClientError('client/cancelled', 'the request was cancelled', {
    facts: { url },
    submitted,
    cause,
  })
}

/** The system's word for it (`ECONNREFUSED`), which may be in the cause. */
function reasonOf(error: unknown): string {
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    if ('code' in one && typeof one.code === 'string') return one.code
    if (one instanceof AggregateError && one.errors.length > 0) return reasonOf(one.errors[0])
    if (one.cause === undefined) return one.message
  }
  return String(error)
}
