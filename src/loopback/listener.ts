import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request to this machine. */
export interface LoopbackRequest {
  readonly method: string
  /** Path and query, as they came. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  /** Reads the body, byte for byte; undefined where it is longer than the listener takes. */
  body(): Promise<Buffer | undefined>
}

export interface LoopbackAnswer {
  readonly status: number
  /** @default text/plain */
  readonly type?: string
  /** @default '' */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface LoopbackOptions {
  /** @default any free one */
  readonly port?: number | undefined
  /** Most bytes of a body. @default none */
  readonly mostBytes?: number
  /** Most connections at a time; others are closed. @default 16 */
  readonly mostConnections?: number
  /** Whether a proxy in front may pass on the name that it was asked by. What is answered must be checked in another way then. */
  readonly anyName?: boolean
}

export interface LoopbackListener {
  /** Without a path. */
  readonly url: string
  readonly port: number
  /** Takes nothing new. What is being answered has a second to end. */
  close(): Promise<void>
}

/** A page of another site may have its name lead to this machine: then its browser asks for that name (DNS rebinding). */
const OWN_NAME = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

const MOST_CONNECTIONS = 16
const TAKES_MS = 10_000
const ENDS_MS = 1_000

/**
 * Answers programs and browsers of this machine over HTTP, on 127.0.0.1. Undefined is answered as 404, and an answer that throws
 * as 500 without words.
 */
export async function listenOnLoopback(
  answer: (request: LoopbackRequest) => Promise<LoopbackAnswer | undefined> | LoopbackAnswer | undefined,
  { port = 0, mostBytes = 0, mostConnections = MOST_CONNECTIONS, anyName = false }: LoopbackOptions = {},
): Promise<LoopbackListener> {
  const answering = new Set<ServerResponse>()
  const timeouts = { headersTimeout: TAKES_MS, requestTimeout: TAKES_MS, connectionsCheckingInterval: 1_000 }
  const server = createServer(timeouts, async (request, response) => {
    const { method = 'GET', url: target = '/', headers } = request
    answering.add(response)
    response.once('close', () => answering.delete(response))
    if (!anyName && !OWN_NAME.test(headers.host ?? '')) {
      return end(request, response, { status: 421, text: 'this server answers to localhost alone' })
    }
    const body = () => readBody(request, mostBytes)
    try {
      end(request, response, (await answer({ method, target, headers, body })) ?? NOT_FOUND)
    } catch {
      end(request, response, { status: 500 })
    }
  })
  server.maxConnections = mostConnections
  const listening = Promise.withResolvers<void>()
  server.once('error', listening.reject)
  server.listen({ host: '127.0.0.1', port }, listening.resolve)
  await listening.promise
  const { port: opened } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${opened}`,
    port: opened,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      const ends = Promise.all([...answering].map((response) => once(response, 'close')))
      const late = AbortSignal.timeout(ENDS_MS)
      await Promise.race([ends, once(late, 'abort')])
      server.closeAllConnections()
      await closed
    },
  }
}

/** What is told at some paths to those who only read. */
export function readable(
  answers: Readonly<Record<string, () => Promise<LoopbackAnswer>>>,
): (request: LoopbackRequest) => Promise<LoopbackAnswer | undefined> {
  return async ({ method, target }) => {
    const path = target.split('?', 1)[0]!
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined
    if (!answer) return undefined
    return method === 'GET' ? answer() : { status: 405 }
  }
}

const NOT_FOUND: LoopbackAnswer = { status: 404, text: 'not found' }

function end(request: IncomingMessage, response: ServerResponse, answer: LoopbackAnswer): void {
  const { status, type = 'text/plain', text = '', headers = {} } = answer
  response.writeHead(status, {
    'content-type': type,
    'x-content-type-options': 'nosniff',
    // What was not read is not waited for.
    ...(request.complete ? {} : { connection: 'close' }),
    ...headers,
  })
  response.end(text)
}

async function readBody(request: IncomingMessage, mostBytes: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  let bytes = 0
  // One that is too long is answered: its connection must stay for that.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > mostBytes) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}
