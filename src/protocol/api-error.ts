import { type GrpcCode, httpStatusOf, type TurnkeyErrorCode } from './grpc.ts'
import type { JsonObject } from './json.ts'
import { type RefusalName, type RefusalRow, refusals } from './refusals.ts'

const codeDetail = 'type.googleapis.com/errors.v1.TurnkeyErrorDetail'
const policyDetail = 'type.googleapis.com/errors.v1.PolicyEnginePermissionError'

/** A refusal as the API says it: thrown by the service, answered as JSON (docs/protocol/errors.md#the-error-body). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly grpc: GrpcCode
  readonly httpStatus: number
  readonly turnkeyErrorCode: TurnkeyErrorCode
  readonly details: readonly JsonObject[]

  /** @default details the error code's own detail, none without a code; httpStatus that of the gRPC code */
  constructor(
    grpc: GrpcCode,
    message: string,
    options: {
      readonly code?: TurnkeyErrorCode
      readonly details?: readonly JsonObject[]
      readonly cause?: unknown
      readonly httpStatus?: number | undefined
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.grpc = grpc
    this.httpStatus = options.httpStatus ?? httpStatusOf(grpc)
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
  const { grpc, code, message, http }: RefusalRow = refusals[name]
  return new ApiError(grpc, (message as (...values: unknown[]) => string)(...values), { code, httpStatus: http })
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
