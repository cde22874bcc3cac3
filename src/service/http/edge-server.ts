/**
 * A server of this service before it has routes: what the public API and the authentication proxy share. Bodies are bytes,
 * refusals are the API's, browsers may ask from anywhere, each request has its line in the log.
 */
import cors from '@fastify/cors'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { newUuid, type RandomBytes } from '../../crypto/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import { sendJson, toApiError } from './answer.ts'
import { addEdge, type Edge } from './edge.ts'
import { EDGE_LIMITS, type EdgeLimits } from './limits.ts'
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

export interface EdgeServerOptions {
  readonly logger: Logger
  readonly randomBytes: RandomBytes
  /** Addresses and blocks of the proxies whose word about a request's source is taken. */
  readonly trustedProxies: readonly string[]
  /** Milliseconds since the epoch: the time that answers carry. */
  readonly clock: () => number
  /** Limits on callers who are not known yet. */
  readonly limits?: Partial<EdgeLimits> | undefined
  /** Told of every request that is over. */
  readonly onRequestEnd?: ((end: RequestEnd) => void) | undefined
}

/** The HTTP server and how it ends. */
export interface HttpServer extends Pick<Edge, 'connections' | 'inFlight'> {
  readonly server: FastifyInstance
  /** Finishes what has begun, refuses what comes, and ends every connection in so many ms. */
  close(ms: number): Promise<void>
}

export interface EdgeServer extends HttpServer {
  readonly lines: RequestLines
  /** Says which origin may read the answer of a request, refusals included; undefined for none. @default '*', any */
  allowOrigin(request: FastifyRequest, reply: FastifyReply, origin: string | undefined): void
}

/** Creates a server without routes. `prepare` runs before CORS is set up. */
export async function createEdgeServer(
  options: EdgeServerOptions,
  prepare: (server: FastifyInstance) => void = () => {},
): Promise<EdgeServer> {
  const { logger, randomBytes, clock } = options
  const limits = { ...EDGE_LIMITS, ...options.limits }
  const origins = new WeakMap<FastifyRequest, { readonly origin: string | undefined }>()

  function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const refusal = toApiError(error, { requestId: request.id, path: pathOf(request) }, { logger, randomBytes })
    reply.header('x-request-id', request.id)
    allowOrigin(request, reply, origins.has(request) ? origins.get(request)!.origin : '*')
    lines.refuse(request, reply, refusal)
    // What still comes of such a request is not waited for.
    if (refusal.httpStatus === 408) reply.header('connection', 'close')
    if (refusal.turnkeyErrorCode === 'RATE_LIMIT_EXCEEDED') reply.header('retry-after', '1')
    return sendJson(reply, refusal.httpStatus, refusal.toBody())
  }

  function allowOrigin(request: FastifyRequest, reply: FastifyReply, origin: string | undefined): void {
    origins.set(request, { origin })
    if (origin === undefined) reply.removeHeader('access-control-allow-origin')
    else reply.header('access-control-allow-origin', origin)
    if (origin !== '*') reply.header('vary', 'Origin')
  }

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
    frameworkErrors: (error, request, reply) => answerError(error, request, reply),
  })
  const lines = addRequestLines(server, { logger, pathOf, onEnd: options.onRequestEnd })
  const edge = addEdge(server, { limits, trustedProxies: options.trustedProxies, pathOf })
  // Any body is bytes: what was signed must reach the engine unread, whatever type it says it has, if it says one.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', ({ raw }: FastifyRequest) => edge.readBody(raw))
  server.addHook('onRequest', ({ raw }, _reply, done) => {
    // Set and not deleted: an object that has lost a member is slower to read.
    if (raw.headers['content-type'] !== undefined) raw.headers['content-type'] = undefined
    done()
  })
  const dateOf = createDates()
  // A client whose request was refused as too old compares its clock with this one.
  server.addHook('onSend', (_request, reply, _payload, done) => {
    reply.header('date', dateOf(clock()))
    done()
  })
  prepare(server)
  server.setErrorHandler((error, request, reply) => answerError(error, request, reply))
  server.setNotFoundHandler((request, reply) => answerError(edge.refuseRoute(request, reply), request, reply))
  await server.register(cors, {
    origin: '*',
    methods: ['GET', 'POST'],
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: ['X-Request-Id'],
    maxAge: 7200,
    strictPreflight: false,
  })
  const { connections, inFlight, close } = edge
  return { server, lines, allowOrigin, connections, inFlight, close }
}

/** The path alone: a query string is no part of any route. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0]!
}

/** Makes the text of an HTTP date, once for each second. */
function createDates(): (atMs: number) => string {
  let last = { second: Number.NaN, text: '' }
  return (atMs) => {
    const second = Math.floor(atMs / 1000)
    if (second !== last.second) last = { second, text: new Date(second * 1000).toUTCString() }
    return last.text
  }
}
