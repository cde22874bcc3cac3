import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { QuorateError } from '../diagnostics/index.ts'

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
  const server = createServer((request, response) => {
    // A browser page that goes away in the middle of a request ends that request alone.
    answer(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve)
    server.once('error', reject)
  })
  const { port } = server.address() as AddressInfo
  const origin = `http://${host}:${port}`

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const posted = request.method === 'POST'
    const url = URL.parse(request.url ?? '/', origin)
    const isOurs =
      request.headers.host === `${host}:${port}` &&
      url?.origin === origin &&
      (!posted || request.headers.origin === origin)
    const body = isOurs && posted ? await readBody(request) : ''
    const found = !isOurs || body === undefined ? undefined : handle({ method: request.method ?? 'GET', url, body })
    const { status, body: text, type = 'text/html; charset=utf-8', headers = {} } = found ?? NOT_FOUND
    response.writeHead(status, {
      'content-type': type,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      ...headers,
    })
    response.end(text)
  }
  return {
    origin,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const NOT_FOUND: PageAnswer = { status: 404, body: 'not found', type: 'text/plain' }

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > MOST_BYTES) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

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
