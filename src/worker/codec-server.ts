/**
 * Opens sealed payloads for Temporal's UI and CLI, as they ask a codec server: `POST /decode` with `{ payloads }`, whose bytes
 * are base64. On 127.0.0.1, for who knows the token, and from browsers for pages of named origins alone.
 *
 * It seals nothing. Neither UI nor CLI says for which workflow a payload is, and workers believe what is sealed.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Payload } from '@temporalio/common'
import { claimPrivate, explainSystemError } from '../local/index.ts'
import { loadKeyText } from '../stamp/index.ts'
import { Secret } from '../telemetry/index.ts'
import { WorkerError } from './error.ts'
import type { PayloadSeal } from './payload-seal.ts'

export interface CodecServerOptions {
  readonly seal: Pick<PayloadSeal, 'openAsNamed'>
  readonly token: Secret
  /** As a browser sends them, e.g. `http://localhost:8233`. */
  readonly origins: readonly string[]
  /** 0 for any free one. */
  readonly port: number
}

export interface CodecServer {
  /** Without a path. */
  readonly url: string
  close(): Promise<void>
}

/** Where the token of a data folder stands. */
const tokenFile = (dataDir: string) => join(dataDir, 'codec.token')

/** A page of another site may have its name lead to this machine: then its browser asks for that name. */
const OWN_NAME = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

/** What may stand in a path and a header, and cannot be guessed. */
const TOKEN = /^[\w.~-]{32,256}$/

/** A page of a history, at Temporal's own bounds for one answer. */
const MOST_BYTES = 16 * 1024 * 1024
const MOST_CONNECTIONS = 16
const TAKES_MS = 10_000

/** Loads what callers must know; the data folder gets 32 random bytes at first use. Throws `worker/codec-token-unusable`. */
export async function loadCodecToken(dataDir: string, file?: string): Promise<Secret> {
  if (file === undefined) claimPrivate(tokenFile(dataDir), `${randomBytes(32).toString('hex')}\n`)
  const { text, where } = await loadKeyText({ kind: 'file', path: file ?? tokenFile(dataDir) })
  const token = text.reveal().trim()
  if (TOKEN.test(token)) return new Secret(token)
  throw new WorkerError('worker/codec-token-unusable', `${where} is not a token of the codec server`)
}

/** Answers until it is closed. */
export async function startCodecServer({ seal, token, origins, port }: CodecServerOptions): Promise<CodecServer> {
  const isToken = (given: string) => timingSafeEqual(digestOf(given), digestOf(token.reveal()))
  const timeouts = { headersTimeout: TAKES_MS, requestTimeout: TAKES_MS, connectionsCheckingInterval: 1_000 }
  const server = createServer(timeouts, async (request, response) => {
    const { method, url = '', headers } = request
    response.setHeader('cache-control', 'no-store')
    response.setHeader('x-content-type-options', 'nosniff')
    if (!OWN_NAME.test(headers.host ?? '')) return refuse(response, 421, 'this server answers to localhost alone')
    if (headers.origin !== undefined) {
      if (!origins.includes(headers.origin)) {
        return refuse(response, 403, 'pages of this origin may not ask: name it with --origin')
      }
      allow(response, headers.origin)
      if (method === 'OPTIONS') return void response.writeHead(204).end()
    }
    const path = /^\/(?:([^/?]+)\/)?(encode|decode)$/.exec(url)
    if (!path) return refuse(response, 404, 'there is /decode, and nothing else')
    const given = path[1] ?? /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
    if (given === undefined || !isToken(given)) return refuse(response, 401, 'the token is missing or another')
    if (method !== 'POST') return refuse(response, 405, 'only POST is answered')
    if (path[2] === 'encode') {
      return refuse(
        response,
        403,
        'payloads are sealed by the commands of quorate alone: nothing was sent to a workflow',
      )
    }
    try {
      const payloads = readPayloads(await readBody(request))
      if (!payloads) return refuse(response, 400, 'expected {"payloads": […]} of at most 16 MiB')
      const opened = payloads.map((each) => {
        const payload = fromJson(each)
        const clear = payload && seal.openAsNamed(payload)
        return clear ? toJson(clear) : each
      })
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ payloads: opened }))
    } catch {
      // The caller has gone.
      response.destroy()
    }
  })
  server.maxConnections = MOST_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  }).catch((error: unknown) => {
    throw explainSystemError(error, { doing: 'nothing listens for Temporal’s UI and CLI' })
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function allow(response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-allow-methods', 'POST')
  response.setHeader('access-control-allow-headers', 'authorization, authorization-extras, content-type, x-namespace')
  response.setHeader('access-control-allow-credentials', 'true')
  response.setHeader('vary', 'origin')
}

function refuse(response: ServerResponse, status: number, message: string): void {
  // What was not read is not waited for.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ message }))
}

/** Undefined where it is too long. */
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

function readPayloads(text: string | undefined): readonly unknown[] | undefined {
  if (text === undefined) return undefined
  try {
    const payloads = Object(JSON.parse(text))['payloads'] as unknown
    return Array.isArray(payloads) ? payloads : undefined
  } catch {
    return undefined
  }
}

/** Undefined for what is no payload. */
function fromJson(value: unknown): Payload | undefined {
  const { metadata, data } = Object(value) as { readonly metadata?: unknown; readonly data?: unknown }
  const entries = Object.entries(Object(metadata))
  if (typeof data !== 'string' || entries.some(([, text]) => typeof text !== 'string')) return undefined
  return {
    metadata: Object.fromEntries(entries.map(([name, text]) => [name, Buffer.from(text as string, 'base64')])),
    data: Buffer.from(data, 'base64'),
  }
}

function toJson({ metadata, data }: Payload): object {
  const entries = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')])
  return { metadata: Object.fromEntries(entries), data: Buffer.from(data ?? []).toString('base64') }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
