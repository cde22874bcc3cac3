import { QuorateError } from '../diagnostics/index.ts'
import { type LoopbackAnswer, type LoopbackRequest, listenOnLoopback } from '../loopback/index.ts'

/** What a page of ours is answered with. */
export interface PageAnswer {
  readonly status: number
  readonly body: string
  /** @default text/html */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A request of the browser, from a page of ours or to it. */
export interface BrowserRequest {
  readonly method: string
  readonly url: URL
  readonly body: string
}

export interface Loopback {
  /** Such as `http://localhost:54321`. */
  readonly origin: string
  close(): void
}

const MOST_BYTES = 64 * 1024

/**
 * Listens on this machine for a browser. Only requests that name this very host and port are taken, so that no page elsewhere
 * can ask through a name of its own (DNS rebinding), and what is posted must come from a page of this origin.
 */
export async function listenForBrowser(
  host: 'localhost' | '127.0.0.1',
  handle: (request: BrowserRequest) => PageAnswer | undefined,
): Promise<Loopback> {
  const listener = await listenOnLoopback(answer, { mostBytes: MOST_BYTES })
  const origin = `http://${host}:${listener.port}`

  async function answer({ method, target, headers, body }: LoopbackRequest): Promise<LoopbackAnswer> {
    const posted = method === 'POST'
    const url = URL.parse(target, origin)
    const isOurs =
      headers.host === `${host}:${listener.port}` && url?.origin === origin && (!posted || headers.origin === origin)
    const bytes = isOurs && posted ? await body() : Buffer.alloc(0)
    const found = !isOurs || bytes === undefined ? undefined : handle({ method, url, body: bytes.toString('utf8') })
    const { status, body: text, type = 'text/html; charset=utf-8', headers: more = {} } = found ?? NOT_FOUND
    const kept = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
    return { status, type, text, headers: { ...kept, ...more } }
  }
  return { origin, close: () => void listener.close() }
}

const NOT_FOUND: PageAnswer = { status: 404, body: 'not found', type: 'text/plain' }

/** How long a person has for what they do in the browser. */
export const BROWSER_WAIT_MS = 5 * 60_000

/** Waits for what the browser brings. Throws `session/given-up` when it does not come in time. */
export async function inTime<Value>(promise: Promise<Value>, waitMs: number): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const message = `nothing came from the browser within ${Math.round(waitMs / 1000)} s`
    late.reject(new QuorateError('session/given-up', message, { next: 'log in again; nothing was kept' }))
  }, waitMs)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
