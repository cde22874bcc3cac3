/**
 * Requests as their operator sees them: one line for each, also for those whose client did not wait for the answer. In it
 * stand ids, words of this service and the source address, and nothing else that a client wrote: no body, stamp or name.
 */
import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ApiError, GRPC } from '../../protocol/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import type { ReportFacts, RequestFacts } from '../engine/index.ts'

/** A request that is over. */
export interface RequestEnd extends RequestFacts {
  readonly requestId: string
  readonly method: string
  /** The path of its route; absent where there is none. */
  readonly route?: string
  /** What was asked for in place of a route, shortened. */
  readonly path?: string
  readonly status: number
  readonly ms: number
  readonly source: string
  /** Of a refusal: the code of the API and the reason by name. */
  readonly code?: number
  readonly reason?: string
  /** Whether the client was gone before it had the whole answer. */
  readonly cut?: true
}

export interface RequestLines {
  /** A request has come. To be called before anything else can refuse it. */
  begin(request: FastifyRequest, reply: FastifyReply): void
  /** The answer of a request is to be sent. */
  answered(request: FastifyRequest, reply: FastifyReply): void
  /** Gives what notes verified facts for the line of a request. */
  reporterOf(request: FastifyRequest): ReportFacts
  /** A request is answered by this refusal. */
  refuse(request: FastifyRequest, reply: FastifyReply, refusal: ApiError): void
}

interface Entry {
  readonly facts: RequestFacts
  readonly source: string
  refusal?: ApiError
  isAnswered: boolean
  isClosed: boolean
}

/** Asked every few seconds by whatever watches the service: said at `debug` while all is well. */
const PROBES: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz'])

const MOST_OF_PATH = 200
const MOST_OF_ADDRESS = 64

const NAMES_OF_CODES = new Map<number, string>(Object.entries(GRPC).map(([name, code]) => [code, name]))

/** Where a request's entry is: a member of the request costs less than a weak map of them. */
const ENTRY = Symbol('entry')
type Known = FastifyRequest & { [ENTRY]?: Entry }

/** Writes a line for every request of a server, whose hooks tell of each. */
export function createRequestLines({
  logger,
  pathOf,
  onEnd,
}: {
  readonly logger: Logger
  readonly pathOf: (request: FastifyRequest) => string
  readonly onEnd?: ((end: RequestEnd) => void) | undefined
}): RequestLines {
  function begin(request: Known, reply: FastifyReply): Entry {
    // A socket that is closed has no address any more.
    const { ip } = request
    const source = ip && ip.length <= MOST_OF_ADDRESS && isIP(ip) ? ip : 'unknown'
    const entry: Entry = { facts: {}, source, isAnswered: false, isClosed: false }
    request[ENTRY] = entry
    reply.raw.on('close', () => {
      entry.isClosed = true
      if (entry.isAnswered) write(request, reply, entry)
    })
    return entry
  }

  /** Once: a client that is gone is not told, but what it asked for is carried out all the same. */
  function answered(request: FastifyRequest, reply: FastifyReply, entry: Entry): void {
    if (entry.isAnswered) return
    entry.isAnswered = true
    if (entry.isClosed) write(request, reply, entry)
  }

  function write(request: FastifyRequest, reply: FastifyReply, { facts, source, refusal }: Entry): void {
    const route = request.routeOptions.url
    const end: RequestEnd = {
      requestId: request.id,
      method: request.method,
      ...(route === undefined ? { path: pathOf(request).slice(0, MOST_OF_PATH) } : { route }),
      status: refusal?.httpStatus ?? reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      source,
      ...facts,
      ...(refusal && { code: refusal.grpc, reason: reasonOf(refusal) }),
      ...(!reply.raw.writableFinished && { cut: true }),
    }
    onEnd?.(end)
    if (PROBES.has(route) && end.status === 200) logger.debug('request', { ...end })
    else logger.info('request', { ...end })
  }

  return {
    begin,
    answered(request: Known, reply) {
      const entry = request[ENTRY]
      if (entry) answered(request, reply, entry)
    },
    reporterOf(request: Known) {
      const entry = request[ENTRY]
      return (facts) => {
        if (entry) Object.assign(entry.facts, facts)
      }
    },
    refuse(request: Known, reply, refusal) {
      // What Fastify refuses itself has met no hook.
      const entry = request[ENTRY] ?? begin(request, reply)
      entry.refusal = refusal
      answered(request, reply, entry)
    },
  }
}

function reasonOf({ turnkeyErrorCode, grpc }: ApiError): string {
  return turnkeyErrorCode || (NAMES_OF_CODES.get(grpc) ?? 'Unknown')
}
