/**
 * Protocol: what both sides of the wire must agree on: the catalogue of activities, queries and proxy endpoints, wire
 * types and their checks, statuses, failures. Not transport, not stamps, no I/O. Everything is derived from `data/`
 * by `generate.ts`. Workflows import `status.ts` by its path; nothing here is read from disk at run time.
 */

export {
  ApiError,
  apiError,
  apiErrorAt,
  type DenialEvaluation,
  permissionDenied,
  type RefusalReason,
} from './api-error.ts'
export { AUTH_PROXY_NAMES } from './auth-proxy-names.ts'
export {
  activities,
  activityActions,
  activityKinds,
  activityResources,
  findActivitiesByPath,
  findActivity,
  findQueryByPath,
  proxyEndpoints,
  queries,
} from './catalogue.ts'
export { EMAIL_PATTERN, UUID_PATTERN } from './checks.ts'
export { createDecoder, type Decoder, type Envelope } from './decoder.ts'
export { fingerprintOf } from './fingerprint.ts'
export type {
  ActivityAction,
  ActivityFamily,
  ActivityKind,
  ActivityResource,
  ActivityType,
  ProxyEndpointName,
  QueryName,
} from './generated/names.gen.ts'
export type * as Wire from './generated/wire.gen.ts'
export type { ActivityIntents, ActivityResults, QueryTypes } from './generated/wire.gen.ts'
export {
  GRPC,
  type GrpcCode,
  httpStatusOf,
  TURNKEY_ERROR_CODES,
  type TurnkeyErrorCode,
} from './grpc.ts'
export { isJsonObject, type Json, type JsonObject } from './json.ts'
export {
  APPROVAL_WINDOW_MS,
  LIVENESS,
  MAX_BODY_BYTES,
  PAGE,
  type PageRequest,
  REQUEST_LIMITS,
  type ResourceLimits,
  readPagination,
  resourceLimits,
  STORED_BYTES,
} from './limits.ts'
export { authProxyDocument, openApiDocument, type Served } from './open-api.ts'
export { parseJson, readJson } from './parse-json.ts'
export { type RefusalName, refusals } from './refusals.ts'
export type { ActivityRow, ProxyRow, QueryRow } from './rows.ts'
export { mayHold } from './schema.ts'
export { respell, respellText, type Spelling } from './spelling.ts'
export { ACTIVITY_STATUSES, type ActivityStatus, isTerminal, isWaiting, WAITING_STATUSES } from './status.ts'
export {
  RECONCILE_COMMAND,
  replacedText,
  saysHeld,
  saysLastCredential,
  saysLimitReached,
  saysReplaced,
  saysWrongCode,
} from './texts.ts'
export { fromTimestamp, toTimestamp } from './time.ts'
