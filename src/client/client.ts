import type { QueryName, QueryTypes, Wire } from '../protocol/index.ts'
import type { Stamper, StampHeader } from '../stamp/index.ts'
import { type Logger, silentLogger } from '../telemetry/index.ts'
import type { ApiClock } from './api-clock.ts'
import type { ClientCode } from './codes.ts'
import { attemptWithin, type Deadline, pastDeadline } from './deadline.ts'
import { ClientError } from './error.ts'
import type { QueryClient, RequestOptions, SubmitClient, SubmitOptions } from './model.ts'
import { type Post, post as postByHttp } from './post.ts'
import { assertShort, createRate, heldBack, MOST_PAUSE_MS, type Rate, unlessAborted } from './rate.ts'
import { malformed, slowed, toClientError } from './refusal.ts'
import { systemTiming, type Timing } from './timing.ts'
import { ATTEMPT_MS, cancelled, type HttpAnswer, isAbsentHere, sendOnce } from './transport.ts'

export interface ClientOptions {
  /** Scheme, host and, if any, path prefix; without a trailing slash. */
  readonly baseUrl: string
  readonly organizationId: string
  readonly stamper: Stamper
  /** Sends a request. @default by HTTP, over connections that are kept */
  readonly post?: Post
  readonly logger?: Logger
  /** The organization's share of requests, which all its clients in a process pass through. @default one of its own, without limit */
  readonly rate?: Pick<Rate, 'take'>
  /** How long one attempt may take. @default 30 s */
  readonly attemptMs?: number
  /** How long the key may take to sign a request and `beforeSending` to end, together. @default 60 s */
  readonly prepareMs?: number
  /** Bounds how long reads are tried; submits go out whatever it says. @default none: six attempts, and no wait of more than a minute */
  readonly deadline?: Deadline | undefined
  /** Told by each answer of the time as the API has it. @default nobody */
  readonly clock?: Pick<ApiClock, 'hears'> | undefined
  /** Told the code of each answer that is a refusal, also of one that is tried again. @default nobody */
  readonly onRefusal?: ((code: ClientCode) => void) | undefined
  readonly timing?: Timing
}

/** Attempts of a read before its error is thrown: about 15 s of waiting in all, beside what the API asks for. */
const READ_ATTEMPTS = 6
const FIRST_WAIT_MS = 500

/**
 * Longer than a command that signs, or a key management service, may take by itself. After it a request whose key hangs ends, and its place
 * is the next request's.
 */
const PREPARE_MS = 60_000

/** Makes a client that can only read: it has no way to submit. */
export function createQueryClient(options: ClientOptions): QueryClient {
  const { baseUrl, organizationId, stamper, query } = createCaller(options)
  return { baseUrl, organizationId, publicKey: stamper.publicKey, query }
}

/**
 * Makes a client that may also submit. It never sends a submit twice by itself: the caller keeps the bytes and may send
 * them again.
 */
export function createSubmitClient(options: ClientOptions): SubmitClient {
  const { baseUrl, organizationId, stamper, query, submit } = createCaller(options)
  return { baseUrl, organizationId, publicKey: stamper.publicKey, query, submit }
}

function createCaller(options: ClientOptions) {
  const { organizationId, stamper, logger = silentLogger, timing = systemTiming } = options
  const { post = postByHttp, attemptMs = ATTEMPT_MS, prepareMs = PREPARE_MS, deadline, clock, onRefusal } = options
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  const rate = options.rate ?? createRate({ timing })
  /** Once it has answered, it may be starting again: nobody is told at once that nothing is there. */
  let hasAnswered = false

  const call = async (path: string, body: string, submits: boolean, { signal, beforeSending }: SubmitOptions) => {
    const url = `${baseUrl}${path}`
    const asked = { url, baseUrl, organizationId, publicKey: stamper.publicKey, submits }
    const hold = (waitMs: number) => {
      logger.warn('held back', { path, waitMs })
      if (submits || !deadline) assertShort(waitMs)
      else if (!deadline.allows(waitMs)) throw pastDeadline(heldBack(waitMs), deadline, waitMs)
    }
    // Before the turn: a command that signs, or a store that is told, takes its time, and the request would come late.
    let stamp: StampHeader
    const prepare = async () => {
      const limit = AbortSignal.timeout(prepareMs)
      const within = (work: Promise<unknown>, what: string) =>
        unlessAborted(work, limit).catch((error: unknown) => {
          throw limit.aborted && error === limit.reason ? notReady(what, prepareMs, asked, deadline) : error
        })
      const signing = stamper.stamp(new TextEncoder().encode(body)).then((made) => {
        stamp = made
      })
      await within(signing, `the key \`${stamper.publicKey}\` has signed nothing`)
      if (beforeSending) await within(beforeSending(), 'the store of what is submitted has not answered')
    }
    const turn = await rate.take(signal, hold, prepare).catch((error: unknown) => {
      throw signal?.aborted ? cancelled(url, error, 'no') : error
    })
    if (submits) deadline?.submits()
    const startedAt = timing.now()
    const mostMs = submits ? attemptMs : attemptWithin(deadline, attemptMs)
    const sent = asking(logger, path, () => sendOnce({ url, body, stamp: stamp!, post, attemptMs: mostMs, signal }))
    const answer = await sent.catch((error: unknown) => {
      if (submits || !deadline || !(error instanceof ClientError) || error.code !== 'client/unreachable') throw error
      throw deadline.silence(timing.now() - startedAt) ? error : pastDeadline(error, deadline, 0)
    })
    const now = timing.now()
    if (answer.date !== undefined) clock?.hears({ date: answer.date, askedAt: startedAt, cameAt: now })
    logger.debug('answered', { path, status: answer.status, ms: now - startedAt })
    const refusal = answer.status < 200 || answer.status > 299 ? toClientError(answer, { ...asked, now }) : undefined
    if (refusal) onRefusal?.(refusal.code)
    // A quota is answered with 429 as well, but going slower does not help there.
    if (refusal?.code === 'client/rate-limited') throw slowed(refusal, turn.refused(answer.retryAfterMs))
    hasAnswered = true
    turn.taken()
    if (refusal) throw refusal
    return { json: readJson(answer), answer, asked: { ...asked, now } }
  }

  const query = async <Name extends QueryName>(
    name: Name,
    request: Omit<QueryTypes[Name]['request'], 'organizationId'>,
    { signal: given }: RequestOptions = {},
  ): Promise<QueryTypes[Name]['response']> => {
    const signal = given && deadline ? AbortSignal.any([given, deadline.signal]) : (given ?? deadline?.signal)
    const path = `/public/v1/query/${name}`
    const body = JSON.stringify({ organizationId, ...request })
    for (let attempt = 1; ; ) {
      try {
        const { json, answer, asked } = await call(path, body, false, signal ? { signal } : {})
        if (!isRecord(json)) throw malformed(answer, asked, 'a JSON object')
        return json as QueryTypes[Name]['response']
      } catch (error) {
        if (!(error instanceof ClientError) || !error.retryable || error.persistent) throw error
        // A command is for somebody who waits for it; what goes on in the background has time.
        if (deadline && !hasAnswered && isAbsentHere(error)) throw error
        const { retryAfterMs = 0, code, message: said, facts } = error
        // What the API asks for is bounded by the deadline; what is waited besides, by the number of attempts.
        const isAsked = deadline !== undefined && retryAfterMs > deadline.paceMs
        if (!isAsked && attempt === READ_ATTEMPTS) throw error
        if (!deadline && retryAfterMs > MOST_PAUSE_MS) throw error
        const waitMs = waitBefore(attempt, error, timing)
        if (deadline && !deadline.allows(waitMs)) throw pastDeadline(error, deadline, waitMs)
        const status = facts['HTTP status']
        logger.warn('reading again', {
          path,
          code,
          said,
          waitMs,
          ...(isAsked ? { status, retryAfterMs, leftMs: deadline.leftMs() } : { attempt, of: READ_ATTEMPTS }),
        })
        await timing.sleep(waitMs, signal)
        if (!isAsked) attempt++
      }
    }
  }

  const submit = async (path: string, body: string, options: SubmitOptions = {}): Promise<Wire.Activity> => {
    const { json, answer, asked } = await call(path, body, true, options)
    if (!isRecord(json) || !isActivity(json.activity)) throw malformed(answer, asked, 'an activity')
    return json.activity
  }

  return { baseUrl, organizationId, stamper, query, submit }
}

/** What is so late was not sent: of a submit, the same bytes may be sent again. */
function notReady(what: string, limitMs: number, { url }: { readonly url: string }, deadline: Deadline | undefined) {
  return new ClientError('client/not-ready', `${what} within ${limitMs / 1000} s; this request was not sent`, {
    facts: { url, 'limit in seconds': limitMs / 1000, submitted: deadline?.submitted() ?? 'nothing by this request' },
    submitted: 'no',
    persistent: true,
  })
}

/** Tells of a request while it has no answer: `asking`, and `asked` when it came back, with an answer or without. */
async function asking<T>(logger: Logger, path: string, send: () => Promise<T>): Promise<T> {
  logger.debug('asking', { path })
  try {
    return await send()
  } finally {
    logger.debug('asked', { path })
  }
}

/** Doubles from half a second, with full jitter above half of it; never less than the API asked for. */
function waitBefore(attempt: number, error: ClientError, timing: Timing): number {
  const backOff = FIRST_WAIT_MS * 2 ** (attempt - 1)
  return Math.max(error.retryAfterMs ?? 0, Math.round(backOff * (0.5 + timing.random() / 2)))
}

function readJson(answer: HttpAnswer): unknown {
  try {
    return JSON.parse(answer.text)
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members that the toolkit builds on are there; the rest is the catalogue's business. */
function isActivity(value: unknown): value is Wire.Activity {
  const texts = ['id', 'status', 'type', 'fingerprint', 'organizationId']
  return isRecord(value) && texts.every((name) => typeof value[name] === 'string')
}
