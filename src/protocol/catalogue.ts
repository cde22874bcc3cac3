/** The catalogue: one row for each activity type, query and proxy endpoint, and the look-ups that read it. */
import { activityRows, proxyRows, queryRows } from './generated/catalogue.gen.ts'
import type {
  ActivityAction,
  ActivityFamily,
  ActivityKind,
  ActivityResource,
  ActivityType,
  ProxyEndpointName,
  QueryName,
} from './generated/names.gen.ts'
import { fold, type Spelling } from './spelling.ts'

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
   * activity that they vote on (facts: protocol §6).
   */
  readonly resultKey: string | null
  readonly result: string | null
  /** What policies call it (facts: policy-language §14). */
  readonly kind?: ActivityKind
  readonly resource?: ActivityResource
  readonly action?: ActivityAction
  /** Only the root quorum may do it; policies are not consulted (facts: policy-language §12). */
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

/** Every activity type. */
export const activities = byKey(activityRows, ({ type }) => type)
/** Every query, by the last segment of its path. */
export const queries = byKey(queryRows, ({ name }) => name)
/** Every endpoint of the authentication proxy, by the last segment of its path. */
export const proxyEndpoints = byKey(proxyRows, ({ name }) => name)

const activitiesByType: ReadonlyMap<string, ActivityRow> = new Map(activityRows.map((row) => [row.type, row]))
const activitiesByPath: ReadonlyMap<string, readonly ActivityRow[]> = Map.groupBy(activityRows, ({ path }) => path)
const queriesByPath: ReadonlyMap<string, QueryRow> = new Map(queryRows.map((row) => [row.path, row]))

/** Finds the row of an activity type, in either spelling, and says which one was used. */
export function findActivity(type: string): { readonly row: ActivityRow; readonly spelling: Spelling } | undefined {
  const { text, spelling } = fold(type)
  return Object.hasOwn(activities, text) ? { row: activities[text as ActivityType], spelling } : undefined
}

/** Finds the row of an activity type, in either spelling. */
export function activityRow(type: string): ActivityRow | undefined {
  // Nearly every request says it as it is said inside.
  return activitiesByType.get(type) ?? findActivity(type)?.row
}

/** Finds the activity types of a submit path, oldest version first; none when the path is not known. */
export function findActivitiesByPath(path: string): readonly ActivityRow[] {
  return activitiesByPath.get(fold(path).text) ?? []
}

/** Finds the row of a query by its path. */
export function findQueryByPath(path: string): QueryRow | undefined {
  return queriesByPath.get(path)
}

/** The words that `activity.kind`, `activity.resource` and `activity.action` can be, each once, in table order. */
export const activityKinds: readonly ActivityKind[] = distinct(activityRows.map(({ kind }) => kind))
export const activityResources: readonly ActivityResource[] = distinct(activityRows.map(({ resource }) => resource))
export const activityActions: readonly ActivityAction[] = distinct(activityRows.map(({ action }) => action))

function distinct<Word>(words: readonly (Word | undefined)[]): readonly Word[] {
  return [...new Set(words)].filter((word) => word !== undefined)
}

/** The generator writes one row for each name, so the record is complete. */
function byKey<Name extends string, Row>(rows: readonly Row[], keyOf: (row: Row) => Name): Readonly<Record<Name, Row>> {
  return Object.fromEntries(rows.map((row) => [keyOf(row), row])) as Record<Name, Row>
}
