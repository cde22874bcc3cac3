/**
 * A server of this service before it has routes: what the public API and the authentication proxy share. Bodies are bytes,
 * refusals are the API's, browsers may ask from anywhere, each request has its line in the log.
 */
import type { Server as HttpsServer } from 'node:https'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { newUuid, type RandomBytes } from '../../crypto/index.ts'
import type { ApiError } from '../../protocol/index.ts'
import { STAMP_HEADER_NAMES } from '../../stamp/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { Faults } from '../operator/index.ts'
import { sendJson, sentAsText, toApiError } from './answer.ts'
import { addEdge, type Edge } from './edge.ts'
import { addFaults } from './faults.ts'
import { EDGE_LIMITS, type EdgeLimits } from './limits.ts'
import { createRequestLines, type RequestEnd, type RequestLines } from './request-lines.ts'
import { addSpans } from './spans.ts'
import type { Tls } from './tls.ts'

/**
 * How long a client may take, beside the limits. Without these Node and Fastify wait for ever (Fastify: requestTimeout and
 * connectionTimeout are 0), and half-open connections pile up.
 */
const TIMES_MS = { request: 75_000, idleConnection: 60_000, check: 1_000 } as const

/** Headers that browsers may send (docs/protocol/requests.md#transport). */
const ALLOWED_HEADERS = [
  'Content-Type',
  'X-Client-Version',
  ...Object.values(STAMP_HEADER_NAMES),
  'X-Auth-Proxy-Config-Id',
  'X-Captcha-Token',
  'X-Enrolment-Secret',
]

/** The answer of a browser's question before a request (fetch.spec.whatwg.org/#http-responses), beside what every answer has. */
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': ALLOWED_HEADERS.join(', '),
  'access-control-max-age': '7200',
  // Safari waits for the body of a 204 that does not say that there is none.
  'content-length': '0',
}

/** No route has a schema of Fastify's: what would compile them is not even loaded, which took a start some thirty milliseconds. */
const NO_SCHEMAS = { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } }

function noCompiler(): never {
  throw new Error('expected a route without a schema')
}

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
  /** Faults that an operator asked for. */
  readonly faults?: Faults | undefined
  /** @default none: it speaks plain HTTP */
  readonly tls?: Tls | undefined
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

/** Creates a server without routes. */
export function createEdgeServer(options: EdgeServerOptions): EdgeServer {
  const { logger, randomBytes, clock, faults, tls } = options
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

  const head = {
    headersTimeout: limits.headMs,
    connectionsCheckingInterval: TIMES_MS.check,
    // Refused below, in the API's form.
    requireHostHeader: false,
  }
  const server = fastify({
    // Anybody can write the header of a proxy: unless one is named, the socket alone says where a request comes from.
    trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
    requestTimeout: TIMES_MS.request,
    connectionTimeout: TIMES_MS.idleConnection,
    ...(tls ? { https: { ...head, ...tls.context, handshakeTimeout: limits.headMs } } : { http: head }),
    return503OnClosing: false,
    schemaController: NO_SCHEMAS,
    genReqId: () => newUuid(randomBytes),
    clientErrorHandler: (error, socket) => edge.refuseConnection(error, socket),
    frameworkErrors: (error, request, reply) => answerError(error, request, reply),
  }) as FastifyInstance
  if (tls) tls.follow(server.server as unknown as HttpsServer)
  const lines = createRequestLines({ logger, pathOf, onEnd: options.onRequestEnd })
  const edge = addEdge(server, { limits, trustedProxies: options.trustedProxies, pathOf })
  // Any body is bytes: what was signed must reach the engine unread, whatever type it says it has, if it says one.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', ({ raw }, _payload, done) => edge.readBody(raw, done))
  const dateOf = createDates()
  // One hook for all that every request meets: each costs a request something by itself, most of all those that give a promise.
  server.addHook('onRequest', (request, reply, done) => {
    lines.begin(request, reply)
    try {
      edge.meet(request, reply)
    } catch (error) {
      return done(error as ApiError)
    }
    const { headers } = request.raw
    // Set and not deleted: an object that has lost a member is slower to read.
    if (headers['content-type'] !== undefined) headers['content-type'] = undefined
    reply.header('access-control-expose-headers', 'X-Request-Id')
    if (request.method === 'OPTIONS') reply.code(204).headers(PREFLIGHT).send()
    else done()
  })
  addSpans(server)
  server.addHook('onSend', (request, reply, payload, done) => {
    lines.answered(request, reply)
    edge.answer(request, reply, payload)
    // A client whose request was refused as too old compares its clock with this one.
    reply.header('date', dateOf(clock()))
    if (typeof payload === 'string') sentAsText(reply)
    done()
  })
  if (faults) addFaults(server, { faults, pathOf, logger })
  server.setErrorHandler((error, request, reply) => answerError(error, request, reply))
  server.setNotFoundHandler((request, reply) => answerError(edge.refuseRoute(request, reply), request, reply))
  // Such a request is answered as it comes, whatever is asked for; it needs a route all the same.
  server.options('*', (_request, reply) => reply.send())
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
