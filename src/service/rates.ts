/**
 * How many requests a second the service takes (docs/protocol/limits.md#requests-a-second): from one address, from one
 * sub-organization, and of those that make it ask a chain. Each is off unless it is set: a self-hosted service has no
 * plans to sell.
 */
import { activities, apiError, queries } from '../protocol/index.ts'
import { findOrganization } from './resources/organizations/store.ts'
import type { Transaction } from './store/index.ts'

/** Whole numbers of requests a second, from 1. As many may come at once. @default none of them */
export interface RatesSettings {
  /** From one source address, before anything is known of a request. */
  readonly source?: number
  /** In one sub-organization, of callers who are known. */
  readonly subOrganization?: number
  /** Sends and `get_wallet_address_balances` in total, of callers who are known. */
  readonly sends?: number
}

/** The most that may come, and what of it is left to each who comes. */
export interface RateLimit {
  readonly limit: number
  /** Counts one request. Says how many more may follow at once; undefined when this is one too many. */
  take(key: string): number | undefined
  /** How many were too many. */
  refused(): number
}

/** The rates of one service. */
export interface Rates {
  /** How many requests each rate has refused. */
  refused(): Readonly<Record<'source' | 'sub-organization' | 'sends', number>>
  readonly source: RateLimit | undefined
  /** Counts a request of a known caller. Throws the API's refusal. */
  countCaller(
    tx: Transaction,
    request: { readonly organizationId: string; readonly path: string },
  ): void | Promise<void>
}

/** Paths whose requests are counted in total. */
const SENDS: ReadonlySet<string> = new Set([
  activities.ACTIVITY_TYPE_ETH_SEND_TRANSACTION.path,
  activities.ACTIVITY_TYPE_SOL_SEND_TRANSACTION.path,
  queries.get_wallet_address_balances.path,
])

/** Requests a second that an authentication proxy takes of one source address, unless it is told otherwise. */
export const PROXY_RATE = 20

/**
 * Creates the rates that are set. Each of several processes takes its share: whatever comes is spread over them.
 * @default clock one that nobody can set: an operator who moves the service's time moves no rate
 * @default processes this one alone serves the organizations
 */
export function createRates(settings: RatesSettings, clock?: () => number, processes?: () => number): Rates {
  const rateOf = (limit: number | undefined) => (limit === undefined ? undefined : createRate(limit, clock, processes))
  const [source, subOrganization, sends] = [settings.source, settings.subOrganization, settings.sends].map(rateOf)
  return {
    source,
    refused: () => ({
      source: source?.refused() ?? 0,
      'sub-organization': subOrganization?.refused() ?? 0,
      sends: sends?.refused() ?? 0,
    }),
    countCaller(tx, { organizationId, path }) {
      if (sends && SENDS.has(path)) refuseTooMany(sends.take(''))
      if (subOrganization) return countInside(subOrganization, tx, organizationId)
    },
  }
}

async function countInside(rate: RateLimit, tx: Transaction, organizationId: string): Promise<void> {
  const organization = await findOrganization(tx, organizationId)
  if (organization?.parent_id != null) refuseTooMany(rate.take(organizationId))
}

/** Throws for what `take` says of one request too many. */
export function refuseTooMany(left: number | undefined): void {
  if (left === undefined) throw apiError('rateLimited')
}

/** How long a bucket that nobody takes from needs to be full again. */
const FULL_AFTER_MS = 1_000

/** Token buckets, one a key: each holds a second's worth and fills evenly. */
export function createRate(
  limit: number,
  clock: () => number = () => performance.now(),
  processes: () => number = () => 1,
): RateLimit {
  // In the order of their last use: those that are full again are the first.
  const buckets = new Map<string, { readonly tokens: number; readonly at: number }>()
  let refused = 0
  return {
    limit,
    refused: () => refused,
    take(key) {
      const now = clock()
      const share = limit / processes()
      // A bucket that never held one whole token would let nobody pass.
      const full = Math.max(1, share)
      const { tokens: before, at } = buckets.get(key) ?? { tokens: full, at: now }
      const tokens = Math.min(full, before + ((now - at) * share) / FULL_AFTER_MS)
      buckets.delete(key)
      for (const [other, bucket] of buckets) {
        if (now - bucket.at < FULL_AFTER_MS) break
        buckets.delete(other)
      }
      buckets.set(key, { tokens: tokens < 1 ? tokens : tokens - 1, at: now })
      if (tokens >= 1) return Math.floor(tokens - 1)
      refused += 1
      return undefined
    },
  }
}
