/**
 * What a request meets before anything is made of it: connections and memory that are bounded, a head that can be read in
 * one way alone, methods that there are. Whatever is refused here is refused in the API's form.
 */
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ApiError, apiError } from '../../protocol/index.ts'
import { sourceOf } from '../network/index.ts'
import { type Connections, guardConnections } from './connections.ts'
import { createInFlight, type InFlight } from './in-flight.ts'
import type { EdgeLimits } from './limits.ts'
import { refusalOfConnection, refuseSocket } from './raw-refusal.ts'

export interface Edge {
  /** Begins a request. Throws the refusal of one too many, and of a head that nobody may send. */
  meet(request: FastifyRequest, reply: FastifyReply): void
  /** Reads the body of a request that has begun; or gives the refusal of one that is too large or too slow. */
  readonly readBody: InFlight['readBody']
  /** The answer of a request is to be sent. */
  answer(request: FastifyRequest, reply: FastifyReply, payload: unknown): void
  /** The refusal of a request that no route takes. */
  refuseRoute(request: FastifyRequest, reply: FastifyReply): ApiError
  /** Answers bytes that are no HTTP request, or that did not come in time. */
  refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void
  readonly connections: Pick<Connections, 'count' | 'refused'>
  readonly inFlight: Pick<InFlight, 'count' | 'heldBytes'>
  /** Finishes what has begun, refuses what comes, and ends every connection in so many ms. */
  close(ms: number): Promise<void>
}

/** Methods that any route may take; browsers ask with `OPTIONS` first. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

/** Makes the edge of a server, whose hooks call it before everything else. */
export function addEdge(
  server: FastifyInstance,
  options: {
    readonly limits: EdgeLimits
    readonly trustedProxies: readonly string[]
    readonly pathOf: (request: FastifyRequest) => string
  },
): Edge {
  const inFlight = createInFlight(options.limits)
  const connections = guardConnections(server.server, options.limits, options.trustedProxies)
  let isClosing = false

  function refuseRoute(request: FastifyRequest, reply: FastifyReply): ApiError {
    const url = options.pathOf(request)
    const allowed = ['GET', 'POST'].filter((method) => server.hasRoute({ method, url }))
    if (allowed.length === 0) return apiError('notFound', 'path', shown(url))
    reply.header('allow', [...allowed, 'OPTIONS'].join(', '))
    return apiError('methodNotAllowed', request.method)
  }

  server.server.on('connect', (_request, socket) => refuseSocket(socket, apiError('methodNotAllowed', 'CONNECT')))
  server.server.on('checkExpectation', ({ socket }) => refuseSocket(socket, apiError('expectationFailed')))
  function meet(request: FastifyRequest, reply: FastifyReply): void {
    const { raw, ip, id, method } = request
    const endOfConnection = connections.begin(raw.socket)
    reply.raw.on('close', () => {
      inFlight.end(raw)
      endOfConnection()
    })
    reply.headers({ 'x-request-id': id, 'access-control-allow-origin': '*' })
    inFlight.begin(raw, sourceOf(ip))
    checkHead(raw)
    if (isClosing) throw apiError('unavailable')
    // Others need not reach Fastify, which wants things of its own of some.
    if (!METHODS.has(method)) throw refuseRoute(request, reply)
  }

  return {
    connections,
    inFlight,
    meet,
    readBody: inFlight.readBody,
    answer({ raw }, reply, payload) {
      if (isClosing) reply.header('connection', 'close')
      inFlight.answer(
        raw,
        typeof payload === 'string' || payload instanceof Uint8Array ? Buffer.byteLength(payload) : 0,
      )
    },
    refuseRoute,
    refuseConnection(error, socket) {
      // The refusal would be taken for the answer of a request that is still worked on.
      if (inFlight.isAnswering(socket)) return void socket.destroy()
      refuseSocket(socket, refusalOfConnection(error))
    },
    async close(ms) {
      isClosing = true
      const closed = server.close()
      inFlight.stop(() => apiError('unavailable'))
      await connections.drain(ms)
      await closed
      inFlight.close()
    },
  }
}

/**
 * Throws the refusal of a head that could be read in two ways by those on the way (RFC 9112 §3.2, §6.1): without exactly one
 * host, or with a coding of its body other than `chunked`.
 */
function checkHead({ httpVersionMinor, rawHeaders, headers }: FastifyRequest['raw']): void {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === 'host') hosts++
  if (hosts > 1 || (hosts === 0 && httpVersionMinor > 0)) throw apiError('requestInvalid', 'expected one `Host` header')
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw apiError('requestInvalid', 'expected no `Transfer-Encoding` but `chunked`')
  }
}

/** A path as a refusal repeats it. */
function shown(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path
}
