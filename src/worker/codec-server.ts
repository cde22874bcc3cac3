/**
 * Opens sealed payloads for Temporal's UI and CLI, as they ask a codec server: `POST /decode` with `{ payloads }`, whose bytes
 * are base64. On 127.0.0.1, for who knows the token, and from browsers for pages of named origins alone.
 *
 * It seals nothing. Neither UI nor CLI says for which workflow a payload is, and workers believe what is sealed.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import type { Payload } from '@temporalio/common'
import { claimPrivate, explainSystemError } from '../local/index.ts'
import {
  type LoopbackAnswer,
  type LoopbackListener,
  type LoopbackRequest,
  listenOnLoopback,
} from '../loopback/index.ts'
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

/** Where the token of a data folder stands. */
const tokenFile = (dataDir: string) => join(dataDir, 'codec.token')

/** What may stand in a path and a header, and cannot be guessed. */
const TOKEN = /^[\w.~-]{32,256}$/

/** A page of a history, at Temporal's own bounds for one answer. */
const MOST_BYTES = 16 * 1024 * 1024

/** Loads what callers must know; the data folder gets 32 random bytes at first use. Throws `worker/codec-token-unusable`. */
export async function loadCodecToken(dataDir: string, file?: string): Promise<Secret> {
  if (file === undefined) claimPrivate(tokenFile(dataDir), `${randomBytes(32).toString('hex')}\n`)
  const { text, where } = await loadKeyText({ kind: 'file', path: file ?? tokenFile(dataDir) })
  const token = text.reveal().trim()
  if (TOKEN.test(token)) return new Secret(token)
  throw new WorkerError('worker/codec-token-unusable', `${where} is not a token of the codec server`)
}

/** Answers until it is closed. */
export async function startCodecServer({ seal, token, origins, port }: CodecServerOptions): Promise<LoopbackListener> {
  const isToken = (given: string) => timingSafeEqual(digestOf(given), digestOf(token.reveal()))
  const answer = async ({ method, target, headers, body }: LoopbackRequest): Promise<LoopbackAnswer> => {
    const { origin } = headers
    if (origin !== undefined && !origins.includes(origin)) {
      return refusal(403, 'pages of this origin may not ask: name it with --origin')
    }
    if (origin !== undefined && method === 'OPTIONS') return { status: 204 }
    const path = /^\/(?:([^/?]+)\/)?(encode|decode)$/.exec(target)
    if (!path) return refusal(404, 'there is /decode, and nothing else')
    const given = path[1] ?? /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
    if (given === undefined || !isToken(given)) return refusal(401, 'the token is missing or another')
    if (method !== 'POST') return refusal(405, 'only POST is answered')
    if (path[2] === 'encode') {
      return refusal(403, 'payloads are sealed by the commands of quorate alone: nothing was sent to a workflow')
    }
    const payloads = readPayloads(await body())
    if (!payloads) return refusal(400, 'expected {"payloads": […]} of at most 16 MiB')
    const opened = payloads.map((each) => {
      const payload = fromJson(each)
      const clear = payload && seal.openAsNamed(payload)
      return clear ? toJson(forPeople(clear)) : each
    })
    return { status: 200, type: 'application/json', text: JSON.stringify({ payloads: opened }) }
  }
  const withHeaders = async (request: LoopbackRequest): Promise<LoopbackAnswer> => {
    const { origin } = request.headers
    const may = origin !== undefined && origins.includes(origin) ? allowing(origin) : {}
    return { ...(await answer(request)), headers: { 'cache-control': 'no-store', ...may } }
  }
  return listenOnLoopback(withHeaders, { port, mostBytes: MOST_BYTES }).catch((error: unknown) => {
    throw explainSystemError(error, { doing: 'nothing listens for Temporal’s UI and CLI' })
  })
}

function allowing(origin: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'authorization, authorization-extras, content-type, x-namespace',
    'access-control-allow-credentials': 'true',
    vary: 'origin',
  }
}

function refusal(status: number, message: string): LoopbackAnswer {
  return { status, type: 'application/json', text: JSON.stringify({ message }) }
}

function readPayloads(body: Buffer | undefined): readonly unknown[] | undefined {
  if (body === undefined) return undefined
  try {
    const payloads = Object(JSON.parse(body.toString('utf8')))['payloads'] as unknown
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

/** Without what is a worker's business: the CLI shows a payload with an encoding and nothing else as the JSON that it is. */
function forPeople({ metadata, data }: Payload): Payload {
  const { side: _, ...shown } = metadata ?? {}
  return { metadata: shown, ...(data ? { data } : {}) }
}

function toJson({ metadata, data }: Payload): object {
  const entries = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')])
  return { metadata: Object.fromEntries(entries), data: Buffer.from(data ?? []).toString('base64') }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
