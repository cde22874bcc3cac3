import type { Activity, Model } from './model.ts'
import { lastSegment } from './wire.ts'

const prefix = 'ACTIVITY_TYPE_'

/** Writes the rows of activities, queries and proxy endpoints, and the types of their names. */
export function renderCatalogue(model: Model): { readonly names: string; readonly rows: string } {
  const latest = new Map<string, number>()
  for (const activity of model.activities) {
    const { family, version } = familyOf(activity)
    latest.set(family, Math.max(version, latest.get(family) ?? 0))
  }
  const activities = model.activities.map((activity) => {
    const { type, path, intentKey, intent, resultKey, result, published } = activity
    const { family, version } = familyOf(activity)
    const named = model.kinds.get(type)
    if (!named) throw new Error(`activity-kinds.json has no row for ${type}`)
    return {
      type,
      operation: lastSegment(path),
      path,
      family,
      version,
      latest: latest.get(family) === version,
      published,
      intentKey,
      intent,
      resultKey,
      result,
      kind: named.kind,
      resource: named.resource,
      action: named.action,
      rootOnly: named.rootOnly === true,
      gap: named.why,
    }
  })
  const queries = model.queries.map(({ path, request, response, internal }) => {
    const name = lastSegment(path)
    return { name, path, request, response, internal: internal === true }
  })
  const endpoints = model.endpoints.map(({ method, path, request, response }) => {
    const name = lastSegment(path)
    return { name, method, path, request, response }
  })
  const head = '// Generated from src/protocol/data by src/protocol/generate.ts. Do not edit.\n'
  const names = [
    head,
    union(
      'ActivityType',
      activities.map(({ type }) => type),
    ),
    union(
      'ActivityFamily',
      activities.map(({ family }) => family),
    ),
    union(
      'ActivityKind',
      activities.map(({ kind }) => kind),
    ),
    union(
      'ActivityResource',
      activities.map(({ resource }) => resource),
    ),
    union(
      'ActivityAction',
      activities.map(({ action }) => action),
    ),
    union(
      'QueryName',
      queries.map(({ name }) => name),
    ),
    union(
      'ProxyEndpointName',
      endpoints.map(({ name }) => name),
    ),
  ]
  const rows = [
    head,
    "import type { ActivityRow, ProxyRow, QueryRow } from '../rows.ts'\n",
    '// The rows are JSON texts: every command loads them, and object literals of this size are slow to load.\n',
    `export const activityRows: readonly ActivityRow[] = [\n${lines(activities)}].map((row) => JSON.parse(row))\n`,
    `export const queryRows: readonly QueryRow[] = [\n${lines(queries)}].map((row) => JSON.parse(row))\n`,
    `export const proxyRows: readonly ProxyRow[] = [\n${lines(endpoints)}].map((row) => JSON.parse(row))\n`,
  ]
  return { names: names.join('\n'), rows: rows.join('\n') }
}

/** `ACTIVITY_TYPE_CREATE_USERS_V4` is version 4 of `CREATE_USERS`; a type without a suffix is version 1. */
function familyOf({ type }: Activity): { family: string; version: number } {
  const [, family, version] = /^(.*?)(?:_V(\d+))?$/.exec(type.slice(prefix.length))!
  return { family: family!, version: version === undefined ? 1 : Number(version) }
}

function lines(rows: readonly object[]): string {
  return rows.map((row) => `  '${JSON.stringify(row).replaceAll("'", "\\'")}',\n`).join('')
}

function union(name: string, words: readonly (string | undefined)[]): string {
  const distinct = [...new Set(words)].filter((word) => word !== undefined)
  return `export type ${name} =\n${distinct.map((word) => `  | '${word}'\n`).join('')}`
}
