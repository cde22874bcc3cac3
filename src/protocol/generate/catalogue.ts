import type { Activity, Model } from './model.ts'
import { lastSegment } from './wire.ts'

const prefix = 'ACTIVITY_TYPE_'

/** Writes the rows of activities, queries and proxy endpoints. */
export function renderCatalogue(model: Model): string {
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
    const row = {
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
    return [type, row] as const
  })
  const queries = model.queries.map(({ path, request, response, internal }) => {
    const name = lastSegment(path)
    return [name, { name, path, request, response, internal: internal === true }] as const
  })
  const endpoints = model.endpoints.map(({ method, path, request, response }) => {
    const name = lastSegment(path)
    return [name, { name, method, path, request, response }] as const
  })
  return [
    '// Generated from src/protocol/data by src/protocol/generate.ts. Do not edit.\n',
    "import type { ActivityRow, ProxyRow, QueryRow } from '../catalogue.ts'\n",
    union(
      'ActivityType',
      activities.map(([type]) => type),
    ),
    union(
      'ActivityFamily',
      activities.map(([, { family }]) => family),
    ),
    union(
      'ActivityKind',
      activities.map(([, { kind }]) => kind),
    ),
    union(
      'ActivityResource',
      activities.map(([, { resource }]) => resource),
    ),
    union(
      'ActivityAction',
      activities.map(([, { action }]) => action),
    ),
    union(
      'QueryName',
      queries.map(([name]) => name),
    ),
    union(
      'ProxyEndpointName',
      endpoints.map(([name]) => name),
    ),
    `export const activityRows: Readonly<Record<ActivityType, ActivityRow>> = {\n${rows(activities)}}\n`,
    `export const queryRows: Readonly<Record<QueryName, QueryRow>> = {\n${rows(queries)}}\n`,
    `export const proxyRows: Readonly<Record<ProxyEndpointName, ProxyRow>> = {\n${rows(endpoints)}}\n`,
  ].join('\n')
}

/** `ACTIVITY_TYPE_CREATE_USERS_V4` is version 4 of `CREATE_USERS`; a type without a suffix is version 1. */
function familyOf({ type }: Activity): { family: string; version: number } {
  const [, family, version] = /^(.*?)(?:_V(\d+))?$/.exec(type.slice(prefix.length))!
  return { family: family!, version: version === undefined ? 1 : Number(version) }
}

function rows(entries: readonly (readonly [string, object])[]): string {
  return entries.map(([key, row]) => `  ${key}: ${JSON.stringify(row)},\n`).join('')
}

function union(name: string, words: readonly (string | undefined)[]): string {
  const distinct = [...new Set(words)].filter((word) => word !== undefined)
  return `export type ${name} =\n${distinct.map((word) => `  | '${word}'\n`).join('')}`
}
