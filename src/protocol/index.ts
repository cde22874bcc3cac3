/**
 * Protocol: what both sides of the wire must agree on: the catalogue of activities, queries and proxy endpoints, wire
 * types and their checks, statuses, failures. Not transport, not stamps, no I/O. Everything is derived from `data/`
 * by `generate.ts`. Workflows import `status.ts` by its path; nothing here is read from disk at run time.
 */
export {
  type ActivityRow,
  activities,
  activityActions,
  activityKinds,
  activityResources,
  findActivitiesByPath,
  findActivity,
  findQueryByPath,
  latestActivity,
  type ProxyRow,
  proxyEndpoints,
  type QueryRow,
  queries,
} from './catalogue.ts'
export type {
  ActivityAction,
  ActivityFamily,
  ActivityKind,
  ActivityResource,
  ActivityType,
  ProxyEndpointName,
  QueryName,
} from './generated/catalogue.gen.ts'
export type * as Wire from './generated/wire.gen.ts'
export type { ActivityIntents, ActivityResults, QueryTypes } from './generated/wire.gen.ts'
export { isJsonObject, type Json, type JsonObject } from './json.ts'
export { respell, respellText, type Spelling } from './spelling.ts'
export { ACTIVITY_STATUSES, type ActivityStatus, isTerminal, isWaiting } from './status.ts'
