import type { QueryClient } from '../src/client/index.ts'
import { canonicalJson } from '../src/encoding/index.ts'
import { findActivity, isJsonObject, type Json, type Wire } from '../src/protocol/index.ts'
import type { Asked } from './body.ts'
import { readOpenActivities } from './open-activities.ts'

/**
 * Finds an open activity that asks for the same thing: same type, equal intent. An earlier run that was cut off, or
 * another member of the organization, may have submitted it; voting on it beats making a twin.
 */
export async function findByIntent(
  client: QueryClient,
  type: string,
  parameters: Json,
): Promise<Wire.Activity | undefined> {
  const row = findActivity(type)?.row
  if (!row) return undefined
  const wanted = intentText(parameters)
  for await (const activity of readOpenActivities(client, [row.type])) {
    if (intentText(memberOf(activity.intent, row.intentKey)) === wanted) return activity
  }
  return undefined
}

/** Whether an activity asks for just this: same organization and type, equal intent. */
export function isIntent(activity: Wire.Activity, { type, organizationId, parameters }: Asked): boolean {
  const row = findActivity(type)?.row
  return (
    row !== undefined &&
    activity.type === row.type &&
    activity.organizationId === organizationId &&
    intentText(memberOf(activity.intent, row.intentKey)) === intentText(parameters)
  )
}

/**
 * An intent as text that is equal for equal intents: members that say nothing are left out, because `null` and a
 * missing member mean the same, as do a missing and an empty list (facts: protocol §1).
 */
export function intentText(intent: Json): string {
  return canonicalJson(meaningful(intent) ?? {})
}

function meaningful(value: Json): Json | undefined {
  if (value === null) return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item: Json) => meaningful(item) ?? null)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).map(([name, member]) => [name, meaningful(member)] as const)
  return Object.fromEntries(members.filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

function memberOf(intent: unknown, key: string): Json {
  return isJsonObject(intent) ? (intent[key] ?? null) : null
}
