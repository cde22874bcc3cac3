/** What one look at a watched organization asks of the API, and what it makes of a plan; nothing here is kept. */
import type { QueryClient } from '../src/client/index.ts'
import { CHANGING_TYPES, PAGE_LIMIT, textsIn } from '../src/live/index.ts'
import { allPlans, type Change, type Plan } from '../src/plan/index.ts'
import { WAITING_STATUSES, type Wire } from '../src/protocol/index.ts'
import type { KindName } from '../src/resources/index.ts'
import { readVotes } from './vote-state.ts'
import type { DriftRow, Waiting, Watch, WatchMode, WatchState } from './watch-model.ts'
import { toUnixMs } from './wire-time.ts'

/** The same thing is repaired so often in so many sweeps; then a person is to look. */
const MOST_REPAIRS = 3
const REACH = 20

export interface Seen {
  /** Another one after whatever could have changed something that definitions speak of. */
  readonly cursor: string
  readonly waiting: readonly Waiting[]
  readonly activities: readonly Wire.Activity[]
}

/**
 * Asks for the newest activity that changes anything that definitions speak of, and for those that wait: two requests. An activity
 * that waited and was approved is no newer, and is not among those that wait any more.
 */
export async function lookAt(client: QueryClient, nowMs: number): Promise<Seen> {
  const list = async (filterByStatus: readonly Wire.Activity['status'][], limit: number) => {
    const { activities } = await client.query('list_activities', {
      filterByStatus: [...filterByStatus],
      filterByType: [...CHANGING_TYPES],
      paginationOptions: { limit: String(limit) },
    })
    return activities
  }
  const [newest] = await list([], 1)
  const activities = await list(WAITING_STATUSES, PAGE_LIMIT)
  const cursor = [newest?.id ?? 'none', newest?.status ?? '', ...activities.map(({ id }) => id).sort()].join(' ')
  const waiting = activities.map((one): Waiting => {
    const { id, type, fingerprint, createdAt } = one
    const since = new Date(toUnixMs(createdAt)).toISOString()
    const { approved: approvedBy, approvedIds: approverIds, lapsed } = readVotes(one, '', nowMs)
    return { id, type, fingerprint, since, approvedBy, approverIds, ...(lapsed.length > 0 ? { lapsed } : {}) }
  })
  return { cursor, waiting, activities }
}

export function modeOf({ modes }: Pick<Watch, 'modes'>, kind: KindName): WatchMode {
  return modes[kind] ?? 'report'
}

/** The rows of a plan that are told, each with when it was seen first. */
export function driftOf(
  plan: Plan,
  {
    watch,
    before,
    waiting,
    at,
  }: {
    readonly watch: Watch
    readonly before: Pick<WatchState, 'drift'>
    readonly waiting: readonly Wire.Activity[]
    readonly at: string
  },
): readonly DriftRow[] {
  const key = ({ address, action }: Pick<DriftRow, 'address' | 'action'>) => `${action} ${address}`
  const seen = new Map(before.drift.map((row) => [key(row), row.since]))
  const intents = waiting.map(({ id, intent }) => ({ id, texts: textsIn(intent) }))
  const pendingOf = ({ id }: Change) => (id === undefined ? undefined : intents.find(({ texts }) => texts.has(id))?.id)
  return allPlans(plan).flatMap((one) =>
    one.changes.flatMap((change): readonly DriftRow[] => {
      const { kind, action, cause, author } = change
      const asked = modeOf(watch, kind)
      if (asked === 'ignore') return []
      const mode = one.comparedOnly ? 'report' : asked
      const address = addressIn(plan, one, change.address)
      const pending = pendingOf(change)
      return [
        {
          address,
          kind,
          action,
          cause,
          mode,
          since: seen.get(key({ address, action })) ?? at,
          ...(author === undefined ? {} : { author }),
          ...(pending === undefined ? {} : { pending }),
        },
      ]
    }),
  )
}

/** An address with the name of its sub-organization before it, if it is in one. */
function addressIn(plan: Plan, { organization }: Plan, address: string): string {
  return organization.id === plan.organization.id ? address : `${organization.name}/${address}`
}

/** What one of the plans of a plan changes. */
export function changedBy(plan: Plan, one: Plan): readonly string[] {
  const changed = new Set(one.batches.flatMap(({ changes }) => changes.map((address) => addressIn(plan, one, address))))
  return [...changed].sort()
}

/** Whether a repair still counts. */
export function repairsInReach(sweep: number, now: number): boolean {
  return now - sweep < REACH
}

/** Those of these addresses that were repaired too often in the last sweeps. */
export function tooOften(repairs: WatchState['repairs'], addresses: readonly string[]): readonly string[] {
  return addresses.filter((address) => repairs.filter((one) => one.address === address).length >= MOST_REPAIRS)
}
