/**
 * Requests from their first byte to the last byte of their answer. What they hold is counted, as it arrives and not as it
 * is announced, so that many who send or read slowly cannot hold more memory than there is for all of them; those who are
 * slower than the limit are ended.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type ApiError, apiError, MAX_BODY_BYTES } from '../../protocol/index.ts'
import type { EdgeLimits } from './limits.ts'

export interface InFlight {
  /** Bytes that are held. */
  heldBytes(): number
  /** How many requests are held. */
  count(): number
  /** Begins a request. Throws the refusal of one too many. */
  begin(raw: IncomingMessage, source: string): void
  /** Reads the body of a request that has begun; or gives the refusal of one that is too large or too slow. */
  readBody(raw: IncomingMessage, done: (refusal: ApiError | null, body?: Uint8Array) => void): void
  /** The answer of a request is to be sent. */
  answer(raw: IncomingMessage, bytes: number): void
  /** The request is over. */
  end(raw: IncomingMessage): void
  /** Whether a request of this socket is there as a whole, and its answer is not. */
  isAnswering(socket: Socket): boolean
  /** Refuses every request whose body is not there yet. */
  stop(refusal: () => ApiError): void
  close(): void
}

interface Request {
  readonly raw: KnownMessage
  readonly source: string
  /** Its place among those that are held. */
  at: number
  /** When its body or its answer began. */
  begunAt: number
  /** Bytes of its body that have come; then those of its answer. */
  bytes: number
  phase: 'body' | 'working' | 'answer'
  held: number
  refuse: ((refusal: ApiError) => void) | undefined
}

/** Where the request of a message is: a member of the message costs less than a map of them. */
const REQUEST = Symbol('request')
type KnownMessage = IncomingMessage & { [REQUEST]?: Request | undefined }

/** What any request costs: its head, and what Node and Fastify make of it. */
const REQUEST_BYTES = 8_192

/** What each piece of a body costs beside its bytes: a body may come one byte at a time. */
const PIECE_BYTES = 512

/** How often slow ones are looked for. */
const LOOK_MS = 500

/** Creates the count of one server. */
export function createInFlight(
  limits: Pick<EdgeLimits, 'heldBytes' | 'bytesPerSecond' | 'patienceMs'>,
  clock: () => number = () => performance.now(),
): InFlight {
  /**
   * In any order. INVARIANT: requests that come and go leave nothing old behind that leads to newer ones: V8 would keep each until it
   * looks through all memory. So there is no `Map`, whose former table leads to the next, and no function stays in a `Request`.
   */
  const requests: Request[] = []
  const bySource = new Map<string, number>()
  let held = 0

  function hold(request: Request, bytes: number): void {
    request.held += bytes
    held += bytes
    const ofSource = (bySource.get(request.source) ?? 0) + bytes
    if (ofSource === 0) bySource.delete(request.source)
    else bySource.set(request.source, ofSource)
  }

  /** The refusal of a request that would hold so many bytes more. */
  function excess({ source }: Request, bytes: number): ApiError | undefined {
    if (held + bytes > limits.heldBytes) return apiError('unavailable')
    return (bySource.get(source) ?? 0) + bytes > limits.heldBytes / 2 ? apiError('rateLimited') : undefined
  }

  function isSlow({ raw, begunAt, bytes, phase }: Request, now: number): boolean {
    const measuredMs = now - begunAt - limits.patienceMs
    if (measuredMs <= 0) return false
    const moved = phase === 'body' ? bytes : bytes - unsentBytes(raw.socket)
    return moved < (measuredMs / 1_000) * limits.bytesPerSecond
  }

  const looking = setInterval(() => {
    const now = clock()
    for (const request of requests.slice()) {
      if (request.phase === 'working' || !isSlow(request, now)) continue
      if (request.phase === 'body') request.refuse?.(apiError('requestTimeout'))
      else request.raw.socket.destroy()
    }
  }, LOOK_MS)
  looking.unref()

  return {
    heldBytes: () => held,
    count: () => requests.length,
    begin(raw: KnownMessage, source) {
      const request: Request = {
        raw,
        source,
        at: requests.length,
        begunAt: clock(),
        bytes: 0,
        phase: 'working',
        held: 0,
        refuse: undefined,
      }
      const refusal = excess(request, REQUEST_BYTES)
      requests.push(request)
      raw[REQUEST] = request
      hold(request, REQUEST_BYTES)
      if (refusal) throw refusal
    },
    readBody(raw: KnownMessage, done) {
      const request = raw[REQUEST]!
      if (Number(raw.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return done(apiError('bodyTooLarge'))
      const chunks: Uint8Array[] = []
      const take = (chunk: Uint8Array) => {
        const refusal =
          request.bytes + chunk.length > MAX_BODY_BYTES
            ? apiError('bodyTooLarge')
            : excess(request, chunk.length + PIECE_BYTES)
        if (refusal) return end(refusal)
        hold(request, chunk.length + PIECE_BYTES)
        request.bytes += chunk.length
        chunks.push(chunk)
      }
      const end = (refusal?: ApiError) => {
        if (request.phase !== 'body') return
        request.phase = 'working'
        request.refuse = undefined
        raw.off('data', take)
        if (!refusal) return done(null, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, request.bytes))
        // The rest of a body that is refused is read and dropped, so that its sender gets to read the refusal.
        raw.resume()
        done(refusal)
      }
      const breakOff = () => end(apiError('badRequestBody', 'it broke off'))
      request.phase = 'body'
      request.refuse = end
      raw.on('data', take)
      raw.on('end', () => end())
      raw.on('error', breakOff)
      raw.on('aborted', breakOff)
    },
    answer(raw: KnownMessage, bytes) {
      const request = raw[REQUEST]
      if (!request) return
      request.begunAt = clock()
      request.bytes = bytes
      request.phase = 'answer'
      hold(request, bytes)
    },
    end(raw: KnownMessage) {
      const request = raw[REQUEST]
      if (!request) return
      raw[REQUEST] = undefined
      const last = requests.pop()!
      if (last !== request) {
        requests[request.at] = last
        last.at = request.at
      }
      hold(request, -request.held)
    },
    isAnswering: (socket) => requests.some(({ raw }) => raw.socket === socket && raw.complete),
    stop(refusal) {
      for (const { refuse } of requests.slice()) refuse?.(refusal())
    },
    close: () => clearInterval(looking),
  }
}

/** What the kernel has not taken yet: a stream's own count has it as one piece, which is there until all of it is gone. */
function unsentBytes(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: { readonly writeQueueSize?: number } | null }
  return handle?.writeQueueSize ?? 0
}
