import type { QueryClient } from '../src/client/index.ts'
import { canonicalJson } from '../src/encoding/index.ts'
import { type Batch, fillParameters, type Plan, sealed, type WaitingBatch } from '../src/plan/index.ts'
import {
  type ActivityType,
  findActivity,
  isJsonObject,
  isWaiting,
  type Json,
  type Wire,
} from '../src/protocol/index.ts'
import { referencesOf, type Value } from '../src/resources/index.ts'
import type { RequestedBody } from './body.ts'
import { OPEN, readActivities } from './open-activities.ts'
import { readVotes } from './vote-state.ts'
import { toUnixMs } from './wire-time.ts'

/**
 * Finds the activity that decides about a request before it is made: an open one of the same type and equal intent, which an
 * earlier run that was cut off, or another member, may have submitted (voting on it beats making a twin); otherwise the newest
 * one that was rejected, if that still holds. `except` are rejected ones that somebody wants asked again.
 */
export async function findByIntent(
  client: QueryClient,
  type: string,
  parameters: Json,
  except: readonly string[] = [],
): Promise<Wire.Activity | undefined> {
  const key = keyOf(type, parameters)
  if (!key) return undefined
  const found = await findDeciding(client, [key])
  return found.find(({ id, status }) => status !== REJECTED || !except.includes(id))
}

const REJECTED = 'ACTIVITY_STATUS_REJECTED'
/** How many completed activities of one type are looked through for one that outlived a rejection; past that it holds. */
const MOST_COMPLETED = 1000

/** A request without its time: two with the same type and intent ask for the same. */
interface IntentKey {
  readonly type: ActivityType
  readonly intentKey: string
  readonly text: string
}

function keyOf(type: string, parameters: Json): IntentKey | undefined {
  const row = findActivity(type)?.row
  return row && { type: row.type, intentKey: row.intentKey, text: intentText(parameters) }
}

function isSame({ type, intent }: Wire.Activity, key: IntentKey): boolean {
  return type === key.type && intentText(memberOf(intent, key.intentKey)) === key.text
}

/** Of each request, the open activity that asks for it; where there is none, rejected ones that hold, newest first. */
async function findDeciding(client: QueryClient, keys: readonly IntentKey[]): Promise<readonly Wire.Activity[]> {
  const byType = Map.groupBy(keys, ({ type }) => type)
  const open = new Map<IntentKey, Wire.Activity>()
  const rejected = new Map<IntentKey, Wire.Activity[]>()
  for await (const activity of readActivities(client, { types: [...byType.keys()], statuses: [...OPEN, REJECTED] })) {
    for (const key of byType.get(activity.type as ActivityType) ?? []) {
      if (!isSame(activity, key)) continue
      if (activity.status !== REJECTED) open.set(key, open.get(key) ?? activity)
      else if (rejectedAt(activity) !== undefined) rejected.set(key, [...(rejected.get(key) ?? []), activity])
    }
    if (open.size === keys.length) break
  }
  const found: Wire.Activity[] = []
  for (const key of keys) {
    const [waits, refused] = [open.get(key), rejected.get(key)]
    if (waits) found.push(waits)
    else if (refused) found.push(...(await outliving(client, key, refused)))
  }
  return found
}

/** When somebody voted an activity down; undefined for one that nobody did. */
function rejectedAt({ votes }: Wire.Activity): number | undefined {
  const times = votes
    .filter(({ selection }) => selection === 'VOTE_SELECTION_REJECTED')
    .map((one) => toUnixMs(one.createdAt))
  return times.length === 0 ? undefined : Math.max(...times)
}

/** Rejections that hold: no activity of equal intent has completed since. */
async function outliving(
  client: QueryClient,
  key: IntentKey,
  rejected: readonly Wire.Activity[],
): Promise<readonly Wire.Activity[]> {
  const completed = { types: [key.type], statuses: ['ACTIVITY_STATUS_COMPLETED'] as const, most: MOST_COMPLETED }
  let last = Number.NEGATIVE_INFINITY
  for await (const one of readActivities(client, completed)) {
    if (isSame(one, key)) last = Math.max(last, toUnixMs(one.updatedAt))
  }
  return rejected.filter((one) => rejectedAt(one)! > last)
}

/**
 * Says in the forecast of each batch that it was rejected before, where it was and that holds: applying it would ask the same
 * people the same thing. What waits for approval already is said too (`waiting`). With `askAgain` the plan records which rejections it disregards; one that is newer holds.
 */
export async function withRejections(
  client: QueryClient,
  given: Plan,
  { askAgain }: { readonly askAgain: boolean },
): Promise<Plan> {
  const { waiting: _, ...known } = given
  const keys = new Map<IntentKey, number>()
  for (const { index, type, parameters } of known.batches) {
    const key = allKnown(parameters, known.ids) ? keyOf(type, fillParameters(parameters, known.ids)) : undefined
    if (key) keys.set(key, index)
  }
  if (keys.size === 0) return known
  const deciding = await findDeciding(client, [...keys.keys()])
  const found = deciding.filter(({ status }) => status === REJECTED)
  const waiting = waitingOf(deciding, keys)
  const plan: Plan = waiting.length > 0 ? { ...known, waiting } : known
  if (found.length === 0) return withoutRejections(plan)
  if (askAgain) {
    const asked: Plan = { ...withoutRejections(plan), askAgain: found.map(({ id }) => id).toSorted() }
    return sealed(asked)
  }
  const disregarded = plan.askAgain ?? []
  const batches = plan.batches.map((batch): Batch => {
    const [key] = [...keys].find(([, index]) => index === batch.index) ?? []
    const activity = key && found.find((one) => isSame(one, key) && !disregarded.includes(one.id))
    if (!activity) return batch
    const by = readVotes(activity, '', 0).rejectedBy
    return {
      ...batch,
      forecast: { outcome: 'rejected', by, at: new Date(rejectedAt(activity)!).toISOString(), activityId: activity.id },
    }
  })
  const marked: Plan = { ...plan, batches }
  return sealed(marked)
}

/** A plan without what it said of rejections when it was saved: somebody has asked again since, or does so now. */
function withoutRejections(plan: Plan): Plan {
  if (!plan.batches.some(({ forecast }) => forecast?.outcome === 'rejected')) return plan
  const batches = plan.batches.map(({ forecast, ...batch }): Batch => {
    return forecast === undefined || forecast.outcome === 'rejected' ? batch : { ...batch, forecast }
  })
  const unmarked: Plan = { ...plan, batches }
  return sealed(unmarked)
}

/** The batches that are asked for already, in their order. */
function waitingOf(deciding: readonly Wire.Activity[], keys: ReadonlyMap<IntentKey, number>): readonly WaitingBatch[] {
  const rows = [...keys].flatMap(([key, batch]) =>
    deciding
      .filter((one) => isWaiting(one.status) && isSame(one, key))
      .map(({ id, fingerprint }): WaitingBatch => ({ batch, activityId: id, fingerprint })),
  )
  return rows.toSorted((a, b) => a.batch - b.batch)
}

/** Whether no earlier batch has to bring an id first: what is made by this plan was in no request before. */
function allKnown(parameters: Value, ids: Plan['ids']): boolean {
  return referencesOf(parameters).every((address) => Object.hasOwn(ids, address))
}

/** Whether an activity asks for just this: same organization and type, equal intent. */
export function isIntent(activity: Wire.Activity, { type, organizationId, parameters }: RequestedBody): boolean {
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
 * missing member mean the same, as do a missing and an empty list (docs/protocol/requests.md#leniency).
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
