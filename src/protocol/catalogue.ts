/** The catalogue: one row for each activity type, query and proxy endpoint, and the look-ups that read it. */
import { activityRows, proxyRows, queryRows } from './generated/catalogue.gen.ts'
import type { ActivityAction, ActivityKind, ActivityResource } from './generated/names.gen.ts'
import type { ActivityRow, QueryRow } from './rows.ts'
import { fold, type Spelling } from './spelling.ts'

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
  const row = activitiesByType.get(text)
  return row && { row, spelling }
}

/** Finds the row of an activity type, in either spelling. */
export function activityRow(type: string): ActivityRow | undefined {
  // Nearly every request says it as it is said inside.
  return activitiesByType.get(type) ?? findActivity(type)?.row
}

/** Finds the activity types of a submit path, oldest version first; none when the path is not known. */
export function findActivitiesByPath(path: string): readonly ActivityRow[] {
  return activitiesByPath.get(path) ?? activitiesByPath.get(fold(path).text) ?? []
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
