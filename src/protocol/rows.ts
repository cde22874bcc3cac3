/** The shapes of the catalogue's rows. */
import type {
  ActivityAction,
  ActivityFamily,
  ActivityKind,
  ActivityResource,
  ActivityType,
  ProxyEndpointName,
  QueryName,
} from './generated/names.gen.ts'

/** One version of one activity. */
export interface ActivityRow {
  /** `ACTIVITY_TYPE_CREATE_USERS_V4`. */
  readonly type: ActivityType
  /** Last segment of the path; all versions of an activity share it. */
  readonly operation: string
  readonly path: string
  /** The type without prefix and version suffix: `CREATE_USERS`. */
  readonly family: ActivityFamily
  /** From 1. */
  readonly version: number
  /** Whether this is the newest version of its family. */
  readonly latest: boolean
  /** Whether the public schema lists the operation; others are accepted on the same path all the same. */
  readonly published: boolean
  /** The member of an activity's `intent`, and the name of its type. */
  readonly intentKey: string
  readonly intent: string
  /**
   * The member of an activity's `result`, and the name of its type. Null for votes, which are answered with the
   * activity that they vote on (docs/protocol/activities.md#the-answer).
   */
  readonly resultKey: string | null
  readonly result: string | null
  /** What policies call it (docs/protocol/policies.md#names-of-activities). */
  readonly kind?: ActivityKind
  readonly resource?: ActivityResource
  readonly action?: ActivityAction
  /** Only the root quorum may do it; policies are not consulted (docs/protocol/policies.md#root-only-activities). */
  readonly rootOnly: boolean
  /** Why kind, resource or action is missing, where one is. */
  readonly gap?: string
}

/** One query. */
export interface QueryRow {
  readonly name: QueryName
  readonly path: string
  readonly request: string
  readonly response: string
  /** Not in the public schema; clients generated from the full one use it. */
  readonly internal: boolean
}

/** One endpoint of the authentication proxy. */
export interface ProxyRow {
  readonly name: ProxyEndpointName
  readonly method: string
  readonly path: string
  readonly request: string
  readonly response: string
}
