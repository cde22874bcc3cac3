import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What is answered to a `GET`. */
export interface LoopbackAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
}

export interface LoopbackListener {
  /** Without a path. */
  readonly url: string
  close(): Promise<void>
}

/** A page of another site may have its name lead to this machine: then its browser asks for that name. */
const OWN_NAME = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

/** Metrics and health are read by one or two programs, quickly. */
const MOST_CONNECTIONS = 16
const TAKES_MS = 5_000

/**
 * Answers `GET` requests for these paths over HTTP, to programs on this machine alone. An answer that throws is a 500 without words.
 * @param port 0 for any free one
 */
export async function listenOnLoopback(
  answers: Readonly<Record<string, () => Promise<LoopbackAnswer>>>,
  port: number,
): Promise<LoopbackListener> {
  const timeouts = { headersTimeout: TAKES_MS, requestTimeout: TAKES_MS, connectionsCheckingInterval: 1_000 }
  const server = createServer(timeouts, async ({ method, url, headers }, response) => {
    const end = (status: number, body = '', type = 'text/plain') =>
      response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(body)
    if (!OWN_NAME.test(headers.host ?? '')) return end(421)
    const path = url?.split('?', 1)[0] ?? ''
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined
    if (!answer) return end(404)
    if (method !== 'GET') return end(405)
    try {
      const { status, type, text } = await answer()
      return end(status, text, type)
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
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
