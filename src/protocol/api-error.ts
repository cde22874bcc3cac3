import { GRPC, type GrpcCode, grpcOfHttpStatus, httpStatusOf, type TurnkeyErrorCode } from './grpc.ts'
import { isJsonObject, type Json, type JsonObject } from './json.ts'
import { type RefusalName, refusals } from './refusals.ts'

const codeDetail = 'type.googleapis.com/errors.v1.TurnkeyErrorDetail'
const policyDetail = 'type.googleapis.com/errors.v1.PolicyEnginePermissionError'

/** A refusal as the API says it: thrown by the service, answered as JSON (facts: protocol §9). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly grpc: GrpcCode
  readonly httpStatus: number
  readonly turnkeyErrorCode: TurnkeyErrorCode
  readonly details: readonly JsonObject[]

  /** @default details the error code's own detail; none without a code */
  constructor(
    grpc: GrpcCode,
    message: string,
    options: {
      readonly code?: TurnkeyErrorCode
      readonly details?: readonly JsonObject[]
      readonly cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.grpc = grpc
    this.httpStatus = httpStatusOf(grpc)
    this.turnkeyErrorCode = options.code ?? ''
    this.details =
      options.details ??
      (this.turnkeyErrorCode ? [{ '@type': codeDetail, turnkeyErrorCode: this.turnkeyErrorCode }] : [])
  }

  /** The response body: `{code, message, details, turnkeyErrorCode}`, in this order. */
  toBody(): JsonObject {
    return {
      code: this.grpc,
      message: this.message,
      details: this.details,
      turnkeyErrorCode: this.turnkeyErrorCode,
    }
  }
}

/** Makes the refusal of a name with its values: `apiError('missingField', 'users')`. The texts stand in `refusals.ts`. */
export function apiError<Name extends RefusalName>(
  name: Name,
  ...values: Parameters<(typeof refusals)[Name]['message']>
): ApiError {
  const { grpc, code, message } = refusals[name]
  return new ApiError(grpc, (message as (...values: unknown[]) => string)(...values), { code })
}

/** What one policy came to, as a denial lists it. */
export interface DenialEvaluation {
  readonly policyId: string
  readonly outcome: string
}

/** Makes the refusal of an activity that policies do not allow, with its one detail (facts: protocol §9, Denials). */
export function permissionDenied(evaluations: readonly DenialEvaluation[]): ApiError {
  const denying = evaluations.filter(({ outcome }) => outcome === 'OUTCOME_DENY_EXPLICIT')
  const message =
    denying.length === 0
      ? 'No policies evaluated to outcome: Allow'
      : `The following policies denied this action: ${denying.map(({ policyId }) => policyId).join(', ')}`
  const policyEvaluations = evaluations.map(({ policyId, outcome }) => ({ policyId, outcome }))
  const { grpc, code, message: text } = refusals.permissionDenied
  return new ApiError(grpc, text(), { code, details: [{ '@type': policyDetail, message, policyEvaluations }] })
}

/** What a client learns from an answer that is not a success. */
export interface ApiFailure {
  /** The body's code, or what the HTTP status stands for. */
  readonly grpc: number
  readonly message: string
  /** `''` when there is none. */
  readonly turnkeyErrorCode: string
  readonly details: readonly Json[]
}

/**
 * Reads the body of an answer that is not a success. Never throws: a body that is not the API's own (a gateway's
 * page, nothing at all) is reported by its status and the start of its text.
 */
export function parseApiError(httpStatus: number, bodyText: string): ApiFailure {
  const body = parseObject(bodyText)
  if (!body || typeof body['message'] !== 'string' || typeof body['code'] !== 'number') {
    const start = bodyText.trim().slice(0, 200)
    const message = start === '' ? `HTTP status ${httpStatus} without a body` : `HTTP status ${httpStatus}: ${start}`
    return { grpc: grpcOfHttpStatus(httpStatus), message, turnkeyErrorCode: '', details: [] }
  }
  const details = Array.isArray(body['details']) ? (body['details'] as readonly Json[]) : []
  const inDetail = details.find((detail) => isJsonObject(detail) && typeof detail['turnkeyErrorCode'] === 'string')
  const code = body['turnkeyErrorCode'] || (inDetail as JsonObject | undefined)?.['turnkeyErrorCode']
  return {
    grpc: body['code'],
    message: body['message'],
    turnkeyErrorCode: typeof code === 'string' ? code : '',
    details,
  }
}

/** Whether a failure says that the very activity exists already, the one error that is always safe to send again. */
export function isFingerprintTaken({ grpc, message }: { readonly grpc: number; readonly message: string }): boolean {
  return grpc === GRPC.AlreadyExists && message.startsWith(refusals.fingerprintExists.message())
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
