import { type GrpcCode, httpStatusOf, type TurnkeyErrorCode } from './grpc.ts'
import type { JsonObject } from './json.ts'
import { type RefusalName, type RefusalRow, refusals } from './refusals.ts'

const codeDetail = 'type.googleapis.com/errors.v1.TurnkeyErrorDetail'
/** The standard detail of gRPC for the fields of a bad request (google/rpc/error_details.proto). */
const fieldDetail = 'type.googleapis.com/google.rpc.BadRequest'
/** The standard detail of gRPC for a reason that programs tell apart (google/rpc/error_details.proto). */
const reasonDetail = 'type.googleapis.com/google.rpc.ErrorInfo'
const policyDetail = 'type.googleapis.com/errors.v1.PolicyEnginePermissionError'

/**
 * Unstated: the reasons of our own refusals for which the API has no code, and by which the toolkit decides
 * (docs/protocol/errors.md#the-error-body).
 */
export type RefusalReason =
  | 'AUTH_CODE_REFUSED'
  | 'AUTH_METHOD_NOT_ENABLED'
  | 'AUTH_PROXY_DISABLED'
  | 'AUTH_PROXY_NOT_FOUND'
  | 'CAPTCHA_REQUIRED'

/** A refusal as the API says it: thrown by the service, answered as JSON (docs/protocol/errors.md#the-error-body). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly grpc: GrpcCode
  readonly httpStatus: number
  readonly turnkeyErrorCode: TurnkeyErrorCode
  readonly details: readonly JsonObject[]
  /** The field to blame, by its path in the intent (of a query, in its body), such as `users[0].apiKeys[1].publicKey`. */
  readonly field?: string

  /** @default details the error code's own detail, that of the field and that of the reason, none without them; httpStatus that of the gRPC code */
  constructor(
    grpc: GrpcCode,
    message: string,
    options: {
      readonly code?: TurnkeyErrorCode
      readonly details?: readonly JsonObject[]
      readonly cause?: unknown
      readonly httpStatus?: number | undefined
      readonly field?: string | undefined
      readonly reason?: RefusalReason
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.grpc = grpc
    this.httpStatus = options.httpStatus ?? httpStatusOf(grpc)
    this.turnkeyErrorCode = options.code ?? ''
    const { field, reason } = options
    if (field !== undefined) this.field = field
    const { turnkeyErrorCode } = this
    this.details = options.details ?? [
      ...(turnkeyErrorCode ? [{ '@type': codeDetail, turnkeyErrorCode }] : []),
      ...(field === undefined ? [] : [{ '@type': fieldDetail, fieldViolations: [{ field, description: message }] }]),
      ...(reason === undefined ? [] : [{ '@type': reasonDetail, reason, domain: 'quorate' }]),
    ]
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
  const { field }: RefusalRow = refusals[name]
  return refuse(name, values, (field as ((...values: unknown[]) => string) | undefined)?.(...values))
}

/** As `apiError`, of a refusal whose text does not say which field it blames: `field` is its path in the intent. */
export function apiErrorAt<Name extends RefusalName>(
  field: string,
  name: Name,
  ...values: Parameters<(typeof refusals)[Name]['message']>
): ApiError {
  return refuse(name, values, field)
}

function refuse(name: RefusalName, values: readonly unknown[], field: string | undefined): ApiError {
  const { grpc, code, message, http }: RefusalRow = refusals[name]
  const text = (message as (...values: readonly unknown[]) => string)(...values)
  return new ApiError(grpc, text, { code, httpStatus: http, field })
}

/** The outcome of one policy, as a denial lists it. */
export interface DenialEvaluation {
  readonly policyId: string
  readonly outcome: string
}

/** Makes the refusal of an activity that policies do not allow, with its one detail (docs/protocol/errors.md#denials). */
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
