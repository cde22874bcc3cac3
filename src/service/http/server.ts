import cors from '@fastify/cors'
import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify'
import { newUuid, type RandomBytes } from '../../crypto/index.ts'
import { activities, type JsonObject, queries, respellText } from '../../protocol/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { Engine } from '../engine/index.ts'
import type { TokenIssuer } from '../oauth/index.ts'
import type { Faults } from '../operator/index.ts'
import { KEYS_ARE_KEPT_S } from '../outbox/index.ts'
import type { Rate } from '../rates.ts'
import type { Readiness } from '../readiness.ts'
import { sendJson, toApiError } from './answer.ts'
import { addEdge, type Edge } from './edge.ts'
import { addFaults } from './faults.ts'
import { EDGE_LIMITS, type EdgeLimits } from './limits.ts'
import { addSourceRate } from './rates.ts'
import { addRequestLines, type RequestEnd, type RequestLines } from './request-lines.ts'

/**
 * How long a client may take, beside the limits. Without these Node and Fastify wait for ever (Fastify: requestTimeout and
 * connectionTimeout are 0), and half-open connections pile up.
 */
const TIMES_MS = { request: 75_000, idleConnection: 60_000, check: 1_000 } as const

/** Headers that browsers may send (docs/protocol/requests.md#transport). */
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

/** How long receivers keep the keys of webhooks (docs/protocol/webhooks.md#signature-and-keys). */
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
  /** Describes what is served, in OpenAPI's form; called once. */
  readonly describe: () => JsonObject
  /** The keys that webhooks are signed with, as receivers fetch them. */
  readonly webhookKeys: () => JsonObject
  /** The OpenID Connect issuer that the service is. */
  readonly issuer: Pick<TokenIssuer, 'configuration' | 'publishedKeys' | 'keptS'>
  /** How many requests one source address may make. */
  readonly sourceRate?: Rate | undefined
  /** Limits on callers who are not known yet. */
  readonly limits?: Partial<EdgeLimits> | undefined
  readonly readiness: Readiness
  /** Told of every request that is over. */
  readonly onRequestEnd?: ((end: RequestEnd) => void) | undefined
}

/** The HTTP server and how it ends. */
export interface HttpServer extends Pick<Edge, 'connections' | 'inFlight'> {
  readonly server: FastifyInstance
  /** Finishes what has begun, refuses what comes, and ends every connection in so many ms. */
  close(ms: number): Promise<void>
}

/** Creates the HTTP server of the public API; the catalogue gives its routes. It does not listen yet. */
export async function createHttpServer(options: HttpOptions): Promise<HttpServer> {
  const { engine, logger, randomBytes, clock, faults, sourceRate, readiness } = options
  const limits = { ...EDGE_LIMITS, ...options.limits }
  const server = fastify({
    // Anybody can write the header of a proxy: unless one is named, the socket alone says where a request comes from.
    trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
    requestTimeout: TIMES_MS.request,
    connectionTimeout: TIMES_MS.idleConnection,
    http: {
      headersTimeout: limits.headMs,
      connectionsCheckingInterval: TIMES_MS.check,
      // Refused below, in the API's form.
      requireHostHeader: false,
    },
    return503OnClosing: false,
    genReqId: () => newUuid(randomBytes),
    clientErrorHandler: (error, socket) => edge.refuseConnection(error, socket),
    frameworkErrors: (error, request, reply) => answerError(tools, error, request, reply),
  })
  const lines = addRequestLines(server, { logger, pathOf, onEnd: options.onRequestEnd })
  const tools = { logger, randomBytes, lines }
  const edge = addEdge(server, { limits, trustedProxies: options.trustedProxies, pathOf })
  // Any body is bytes: what was signed must reach the engine unread, whatever type it says it has, if it says one.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', ({ raw }: FastifyRequest) => edge.readBody(raw))
  server.addHook('onRequest', async (request) => {
    delete request.raw.headers['content-type']
  })
  // A client whose request was refused as too old compares its clock with this one.
  server.addHook('onSend', async (_request, reply) => void reply.header('date', new Date(clock()).toUTCString()))
  if (faults) addFaults(server, { faults, pathOf, logger })
  server.setErrorHandler((error, request, reply) => answerError(tools, error, request, reply))
  server.setNotFoundHandler((request, reply) => answerError(tools, edge.refuseRoute(request, reply), request, reply))
  await server.register(cors, {
    origin: '*',
    methods: ['GET', 'POST'],
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: ['X-Request-Id'],
    maxAge: 7200,
    strictPreflight: false,
  })
  // After CORS: a browser that comes too often must be able to read that.
  if (sourceRate) addSourceRate(server, sourceRate)

  server.get('/healthz', (_request, reply) => sendJson(reply, 200, { status: 'ok' }))
  // A service that ends takes no connection any more: a client learns it from the refused connection.
  server.get('/readyz', async (_request, reply) => {
    const reasons = await readiness.reasons()
    const ready = reasons.length === 0
    reply.header('cache-control', 'no-store')
    return sendJson(reply, ready ? 200 : 503, ready ? { status: 'ready' } : { status: 'not ready', reasons })
  })
  let description: JsonObject | undefined
  server.get('/openapi.json', (_request, reply) => {
    description ??= options.describe()
    return sendJson(reply, 200, description)
  })
  server.get('/public/v1/discovery/webhooks/jwks', (_request, reply) =>
    sendJson(reply.header('cache-control', CACHE_OF_KEYS), 200, options.webhookKeys()),
  )
  const { issuer } = options
  const publish = (path: string, document: () => JsonObject) =>
    server.get(path, (_request, reply) =>
      sendJson(reply.header('cache-control', `public, max-age=${issuer.keptS}`), 200, document()),
    )
  publish('/.well-known/openid-configuration', issuer.configuration)
  publish('/.well-known/jwks.json', issuer.publishedKeys)
  for (const path of submitPaths()) {
    server.post(path, async (request, reply) => {
      readiness.checkSubmit()
      return sendJson(reply, 200, await engine.submit(toRaw(request, lines)))
    })
  }
  for (const { path } of Object.values(queries)) {
    server.post(path, async (request, reply) => sendJson(reply, 200, await engine.query(toRaw(request, lines))))
  }
  const { connections, inFlight, close } = edge
  return { server, connections, inFlight, close }
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

function toRaw(request: FastifyRequest, lines: RequestLines) {
  const body = request.body instanceof Uint8Array ? request.body : new Uint8Array()
  return {
    path: pathOf(request),
    headers: request.headers,
    body,
    source: request.ip || undefined,
    report: lines.reporterOf(request),
  }
}

/** The path alone: a query string is no part of any route. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0]!
}

function answerError(
  { logger, randomBytes, lines }: Pick<HttpOptions, 'logger' | 'randomBytes'> & { readonly lines: RequestLines },
  error: unknown,
  request: FastifyRequest,
  reply: Parameters<typeof sendJson>[0],
) {
  const refusal = toApiError(error, { requestId: request.id, path: pathOf(request) }, { logger, randomBytes })
  reply.headers({ 'x-request-id': request.id, 'access-control-allow-origin': '*' })
  lines.refuse(request, reply, refusal)
  // What still comes of such a request is not waited for.
  if (refusal.httpStatus === 408) reply.header('connection', 'close')
  if (refusal.turnkeyErrorCode === 'RATE_LIMIT_EXCEEDED') reply.header('retry-after', '1')
  return sendJson(reply, refusal.httpStatus, refusal.toBody())
}
