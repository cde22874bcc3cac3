/** The gRPC codes that the API uses, with their HTTP status (docs/protocol/errors.md#the-error-body). */
export const GRPC = {
  InvalidArgument: 3,
  NotFound: 5,
  AlreadyExists: 6,
  PermissionDenied: 7,
  ResourceExhausted: 8,
  FailedPrecondition: 9,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
  Unauthenticated: 16,
} as const
export type GrpcCode = (typeof GRPC)[keyof typeof GRPC]

const httpByGrpc: Readonly<Record<GrpcCode, number>> = {
  3: 400,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  12: 501,
  13: 500,
  14: 503,
  16: 401,
}

/** The HTTP status that a gRPC code is answered with. */
export function httpStatusOf(grpc: GrpcCode): number {
  return httpByGrpc[grpc]
}

/** Every `turnkeyErrorCode` (docs/protocol/errors.md#the-error-body); `''` where a failure has none. */
export const TURNKEY_ERROR_CODES = [
  'UNSPECIFIED',
  'INTERNAL',
  'ORGANIZATION_NOT_FOUND',
  'API_OPERATIONS_DISABLED',
  'SIGNING_QUOTA_EXCEEDED',
  'REQUEST_NOT_AUTHORIZED',
  'PUBLIC_KEY_NOT_FOUND',
  'RATE_LIMIT_EXCEEDED',
  'SIGNATURE_MISSING',
  'SIGNATURE_INVALID',
  'CREDENTIAL_NOT_FOUND',
  'CREDENTIAL_CONFLICT',
  'API_KEY_EXPIRED',
  'REQUEST_INVALID',
  'FORBIDDEN',
  'UNAUTHENTICATED',
  'UNSUPPORTED_TRANSACTION_TYPE',
  'INVALID_TRANSACTION',
  'INVALID_OIDC_TOKEN',
  'INVALID_ORGANIZATION_ID',
  'OAUTH2_CREDENTIAL_NOT_FOUND',
  'OAUTH2_PROVIDER_NOT_FOUND',
  'INVALID_OAUTH2_PROVIDER',
  'OAUTH2_PROVIDER_NOT_CONFIGURED',
  'INVALID_ACTIVITY_CALLER',
  'WALLET_ACCOUNT_NOT_EXPORTED',
  'INVALID_TIME',
  'RPC_CALL_ERROR',
  'INVALID_EMAIL',
  'INVALID_FQDN',
  'OAUTH_PROVIDER_ALREADY_EXISTS',
  'EMAIL_SENDING_DISABLED',
  'ORGANIZATION_MISMATCH',
  'MAX_OTP_INITIATED',
  'TVC_IMAGE_VALIDATION_FAILED',
  'TRANSACTION_RISK_SCREENING_DENIED',
  'TRANSACTION_RISK_SCREENING_UNVERIFIED',
  'TVC_CLIENT_VERSION_TOO_OLD',
  'SWAP_QUOTE_ALREADY_USED',
] as const
export type TurnkeyErrorCode = (typeof TURNKEY_ERROR_CODES)[number] | ''
