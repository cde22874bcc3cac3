import type { Socket } from 'node:net'
import cors from '@fastify/cors'
import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify'
import { newUuid, type RandomBytes } from '../../crypto/index.ts'
import {
  activities,
  apiError,
  type JsonObject,
  MAX_BODY_BYTES,
  openApiDocument,
  queries,
  respellText,
} from '../../protocol/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { Faults } from '../operator/faults.ts'
import { KEYS_ARE_KEPT_S } from '../outbox/signing-keys.ts'
import type { Rate } from '../rates.ts'
import { JSON_TYPE, sendJson, toApiError } from './answer.ts'
import { addFaults } from './faults.ts'
import { addSourceRate } from './rates.ts'

/**
 * How long a client may take. Without these Node and Fastify wait for ever (Fastify: requestTimeout and
 * connectionTimeout are 0), and slow or half-open connections pile up.
 */
const TIMES_MS = { request: 15_000, headers: 10_000, idleConnection: 60_000, check: 5_000 } as const

/** What browsers may send (facts: protocol §1, §19). */
const ALLOWED_HEADERS = [
  'Content-Type',
  'X-Client-Version',
  'X-Stamp',
  'X-Stamp-Webauthn',
  'X-Stamp-Attested',
  'X-Session',
  'X-Auth-Proxy-Config-Id',
  'X-Captcha-Token',
]

/** How long receivers keep the keys of webhooks (facts: webhooks §4). */
const CACHE_OF_KEYS = `public, max-age=${KEYS_ARE_KEPT_S}, s-maxage=${KEYS_ARE_KEPT_S}, stale-if-error=604800`

export interface HttpOptions {
  readonly engine: Engine
  readonly logger: Logger
  readonly randomBytes: RandomBytes
  /** Addresses and blocks of the proxies whose word about a request's source is taken. */
  readonly trustedProxies: readonly string[]
  /** Milliseconds since the epoch: the time that answers carry. */
  readonly clock: () => number
  /** Faults that an operator asked for. */
  readonly faults?: Faults | undefined
  /** The keys that webhooks are signed with, as receivers fetch them. */
  readonly webhookKeys: () => JsonObject
  /** How many requests one source address may make. */
  readonly sourceRate?: Rate | undefined
}

/** Creates the HTTP server of the public API; the catalogue gives its routes. It does not listen yet. */
export async function createHttpServer(options: HttpOptions): Promise<FastifyInstance> {
  const { engine, logger, randomBytes, clock, faults, sourceRate } = options
  const server = fastify({
    bodyLimit: MAX_BODY_BYTES,
    // Anybody can write the header of a proxy: unless one is named, the socket alone says where a request comes from.
    trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
    requestTimeout: TIMES_MS.request,
    connectionTimeout: TIMES_MS.idleConnection,
    http: { headersTimeout: TIMES_MS.headers, connectionsCheckingInterval: TIMES_MS.check },
    genReqId: () => newUuid(randomBytes),
    clientErrorHandler: (_error, socket) => refuseConnection(socket),
    frameworkErrors: (error, request, reply) => answerError(options, error, request, reply),
  })
  // Any body is bytes: what was signed must reach the engine unread, whatever type it says it has, if it says one.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  server.addHook('onRequest', async (request) => {
    delete request.raw.headers['content-type']
  })
  // A client whose request was refused as too old compares its clock with this one.
  server.addHook('onSend', async (_request, reply) => void reply.header('date', new Date(clock()).toUTCString()))
  if (faults) addFaults(server, { faults, pathOf, logger })
  server.addHook('onResponse', async (request, reply) => {
    const { id: requestId, method } = request
    const path = pathOf(request)
    logger.info('request', { requestId, method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime) })
  })
  server.setErrorHandler((error, request, reply) => answerError(options, error, request, reply))
  server.setNotFoundHandler((request, reply) =>
    answerError(options, apiError('notFound', 'path', pathOf(request)), request, reply),
  )
  await server.register(cors, { origin: '*', methods: ['GET', 'POST'], allowedHeaders: ALLOWED_HEADERS, maxAge: 7200 })
  // After CORS: a browser that comes too often must be able to read that.
  if (sourceRate) addSourceRate(server, sourceRate)

  server.get('/healthz', (_request, reply) => sendJson(reply, 200, { status: 'ok' }))
  let description: JsonObject | undefined
  server.get('/openapi.json', (_request, reply) => {
    description ??= openApiDocument()
    return sendJson(reply, 200, description)
  })
  server.get('/public/v1/discovery/webhooks/jwks', (_request, reply) =>
    sendJson(reply.header('cache-control', CACHE_OF_KEYS), 200, options.webhookKeys()),
  )
  for (const path of submitPaths()) {
    server.post(path, async (request, reply) => sendJson(reply, 200, await engine.submit(toRaw(request))))
  }
  for (const { path } of Object.values(queries)) {
    server.post(path, async (request, reply) => sendJson(reply, 200, await engine.query(toRaw(request))))
  }
  return server
}

/** Every path that requests with a stamp are sent to. */
export function apiPaths(): readonly string[] {
  return [...submitPaths(), ...Object.values(queries).map(({ path }) => path)]
}

/** Every path that activities are submitted to, in both spellings. */
function submitPaths(): readonly string[] {
  const operations = new Set(Object.values(activities).map(({ operation }) => operation))
  const spelled = [...operations].flatMap((operation) => [operation, respellText(operation, 'layer2')])
  return [...new Set(spelled)].map((operation) => `/public/v1/submit/${operation}`)
}

function toRaw(request: FastifyRequest) {
  const body = request.body instanceof Uint8Array ? request.body : new Uint8Array()
  return { path: pathOf(request), headers: request.headers, body, source: request.ip || undefined }
}

/** The path alone: a query string is no part of any route. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0]!
}

function answerError(
  { logger, randomBytes }: HttpOptions,
  error: unknown,
  request: FastifyRequest,
  reply: Parameters<typeof sendJson>[0],
) {
  const refusal = toApiError(error, { requestId: request.id, path: pathOf(request) }, { logger, randomBytes })
  logger.debug('refused', { requestId: request.id, code: refusal.grpc, reason: refusal.turnkeyErrorCode })
  if (refusal.turnkeyErrorCode === 'RATE_LIMIT_EXCEEDED') reply.header('retry-after', '1')
  return sendJson(reply, refusal.httpStatus, refusal.toBody())
}

/** Answers bytes that are no HTTP request, or that did not come in time; there is no request to speak of. */
function refuseConnection(socket: Socket): void {
  if (!socket.writable) return void socket.destroy()
  const body = JSON.stringify(apiError('badRequestBody', 'expected an HTTP request, whole and in time').toBody())
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
