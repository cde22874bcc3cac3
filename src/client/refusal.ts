import { saysLimitReached, saysWrongCode } from '../protocol/index.ts'
import type { ClientCode } from './codes.ts'
import { ClientError, type SubmittedState } from './error.ts'
import type { HttpAnswer } from './transport.ts'

/** The API's error body (docs/protocol/errors.md#the-error-body). `details` is always an array of objects with an `@type`. */
interface ErrorBody {
  readonly code: number
  readonly message: string
  readonly details: readonly Readonly<Record<string, unknown>>[]
  readonly turnkeyErrorCode: string
}

/** The request that was refused: URL, organization and key; part of every message's facts. */
export interface RefusedRequest {
  readonly url: string
  readonly baseUrl: string
  readonly organizationId: string
  readonly publicKey: string
  /** A submit, whose outcome matters. */
  readonly submits: boolean
  readonly now: number
}

/** The API's own words come first, since one gRPC code stands for many things; then the gRPC code; then the HTTP status. */
const byApiCode: Readonly<Record<string, ClientCode>> = {
  INVALID_TIME: 'client/clock-skew',
  ORGANIZATION_MISMATCH: 'client/wrong-organization',
  ORGANIZATION_NOT_FOUND: 'client/wrong-organization',
  INVALID_ORGANIZATION_ID: 'client/wrong-organization',
  RATE_LIMIT_EXCEEDED: 'client/rate-limited',
  SIGNING_QUOTA_EXCEEDED: 'client/limit',
  FORBIDDEN: 'client/unauthenticated',
}

const byGrpc: Readonly<Record<number, ClientCode>> = {
  3: 'client/invalid',
  5: 'client/not-found',
  6: 'client/conflict',
  7: 'client/denied',
  8: 'client/rate-limited',
  9: 'client/invalid',
  12: 'client/not-supported',
  13: 'client/server-error',
  14: 'client/server-error',
  16: 'client/unauthenticated',
}

const byStatus: Readonly<Record<number, ClientCode>> = { 429: 'client/rate-limited' }

/** Turns an answer that is not a success into the error that says what happened. */
export function toClientError(answer: HttpAnswer, asked: RefusedRequest): ClientError {
  const body = readErrorBody(answer.text)
  const code = chooseCode(answer, body)
  const said = body?.message || (body ? '' : excerpt(answer.text)) || `HTTP status ${answer.status}`
  const facts = {
    url: asked.url,
    'HTTP status': answer.status,
    'gRPC code': body?.code,
    'API code': body?.turnkeyErrorCode || undefined,
    'API message': said,
    details: body && detailTexts(body),
  }
  const field = body && fieldOf(body)
  const submitted: SubmittedState = asked.submits && code === 'client/server-error' ? 'unknown' : 'no'
  const { message, next } = words(code, said, answer, asked)
  return new ClientError(code, message, {
    facts,
    submitted,
    retryAfterMs: answer.retryAfterMs,
    refusal: body && refusalOf(body),
    ...(field === undefined ? {} : { field }),
    ...(next === undefined ? {} : { next }),
  })
}

/** The refusal of a rate, with what goes from now on: so many milliseconds between two requests, fewer again with time. */
export function slowed(
  { code, message, facts, next, submitted, retryAfterMs }: ClientError,
  spacingMs: number,
): ClientError {
  const [seconds, perSecond] = [spacingMs / 1000, 1000 / spacingMs].map((number) => Number(number.toFixed(1)))
  const pace =
    spacingMs > 1000
      ? `one request in ${seconds} s`
      : `at most ${perSecond} ${perSecond === 1 ? 'request' : 'requests'} a second`
  const options = { facts, submitted, retryAfterMs, ...(next === undefined ? {} : { next }) }
  return new ClientError(code, `${message} (from here ${pace} for now, more again with time)`, options)
}

/** Says that a success is not one we can read. The service may well have carried the request out. */
export function malformed(answer: HttpAnswer, asked: RefusedRequest, expected: string): ClientError {
  const got = excerpt(answer.text)
  return new ClientError('client/malformed-answer', `the API answered with something else than ${expected}`, {
    facts: { url: asked.url, 'HTTP status': answer.status, 'content type': answer.contentType, answer: got },
    submitted: asked.submits ? 'unknown' : 'no',
  })
}

function chooseCode(answer: HttpAnswer, body: ErrorBody | undefined): ClientCode {
  if (!body)
    return byStatus[answer.status] ?? (answer.status >= 500 ? 'client/server-error' : 'client/malformed-answer')
  const code = byApiCode[body.turnkeyErrorCode] ?? byGrpc[body.code]
  // Limits share gRPC 8 with rates, but waiting does not help (docs/protocol/errors.md#texts).
  if (code === 'client/rate-limited' && saysLimitReached(body.message)) return 'client/limit'
  return code ?? byStatus[answer.status] ?? (answer.status >= 500 ? 'client/server-error' : 'client/invalid')
}

function words(
  code: ClientCode,
  said: string,
  answer: HttpAnswer,
  asked: RefusedRequest,
): { message: string; next?: string } {
  const key = `the key \`${shorten(asked.publicKey)}\``
  const organization = `organization \`${asked.organizationId}\``
  switch (code) {
    case 'client/unauthenticated':
      return {
        message: `the API at \`${asked.baseUrl}\` does not accept ${key} in ${organization}: ${said}`,
        next: 'register this public key with a user of the organization, or give the key of such a user',
      }
    case 'client/clock-skew':
      return { message: `the API refused the request's time: ${said}; ${skew(answer, asked)}` }
    case 'client/denied':
      return { message: `${organization} does not allow the user of ${key} to do this: ${said}` }
    case 'client/wrong-organization':
      return { message: `${organization} cannot be used with ${key}: ${said}` }
    case 'client/not-found': {
      const message = `the API answered: ${said}`
      const { origin, pathname } = new URL(asked.baseUrl)
      // The path of the request itself is what is not found: no thing that was deleted.
      return pathname !== '/' && said.includes(new URL(asked.url).pathname)
        ? { message, next: `nothing answers under \`${pathname}\` there: the base URL may be \`${origin}\`` }
        : { message }
    }
    default:
      return { message: `the API answered: ${said}` }
  }
}

/** The difference of the clocks, by the answer's `Date` (whole seconds). */
function skew(answer: HttpAnswer, asked: RefusedRequest): string {
  if (answer.date === undefined) return 'its answer does not say what time it has'
  const seconds = Math.round((asked.now - answer.date) / 1000)
  if (Math.abs(seconds) < 60) return 'the clocks agree within a minute, so the request itself had grown old'
  return `this machine's clock is ${Math.abs(seconds)} seconds ${seconds > 0 ? 'ahead of' : 'behind'} the API's`
}

/** What the policy engine evaluated, in the API's words, without the type names. */
function detailTexts({ details }: ErrorBody): string | undefined {
  const texts = details.map(({ message, policyEvaluations }) => {
    const evaluated = Array.isArray(policyEvaluations) ? policyEvaluations.map(outcomeText).filter(Boolean) : []
    return [typeof message === 'string' ? message : '', ...evaluated].filter(Boolean).join('; ')
  })
  return texts.filter(Boolean).join(' | ') || undefined
}

/** The field that the API blames, by the standard detail of gRPC for a bad request (google.rpc.BadRequest). */
function fieldOf({ details }: ErrorBody): string | undefined {
  const violations = details.flatMap(({ fieldViolations }) => (Array.isArray(fieldViolations) ? fieldViolations : []))
  const field: unknown = isRecord(violations[0]) ? violations[0]['field'] : undefined
  return typeof field === 'string' ? field : undefined
}

/** Why, for programs: by the standard detail of gRPC for it (google.rpc.ErrorInfo), a published text, or the API's own code. */
function refusalOf({ details, message, turnkeyErrorCode }: ErrorBody): string | undefined {
  if (saysWrongCode(message)) return 'INVALID_OTP_CODE'
  const reason = details.find((detail) => String(detail['@type']).endsWith('/google.rpc.ErrorInfo'))?.['reason']
  return typeof reason === 'string' ? reason : turnkeyErrorCode || undefined
}

function outcomeText(evaluation: unknown): string {
  if (!isRecord(evaluation)) return ''
  const { policyId, outcome } = evaluation
  return typeof policyId === 'string' && typeof outcome === 'string' ? `${policyId} ${outcome}` : ''
}

function readErrorBody(text: string): ErrorBody | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(json) || typeof json.code !== 'number') return undefined
  return {
    code: json.code,
    message: typeof json.message === 'string' ? json.message : '',
    details: Array.isArray(json.details) ? json.details.filter(isRecord) : [],
    turnkeyErrorCode: typeof json.turnkeyErrorCode === 'string' ? json.turnkeyErrorCode : '',
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shorten(publicKey: string): string {
  return publicKey.length > 16 ? `${publicKey.slice(0, 12)}…${publicKey.slice(-4)}` : publicKey
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 120 ? `${line.slice(0, 120)}…` : line
}
