/**
 * The cost of sponsored sends for the paying organization, and its limits
 * (docs/protocol/sends.md#sponsorship-limits). A parent pays for its own sends and for those of its sub-organizations,
 * within limits for a window of time that ends now. A send is counted from its acceptance on: with an estimate, with
 * the most that it may cost once it is signed, and with what it has cost once it is in a block; one that failed has
 * cost nothing. INVARIANT: what is checked is counted in the same write transaction.
 */

import { parseDecimal, printDecimal } from '../../encoding/index.ts'
import { ApiError, GRPC, type Wire } from '../../protocol/index.ts'
import { type Chain, USD_PLACES, valueInUsd } from '../chains/index.ts'
import {
  findGasUsage,
  findGasUsageConfig,
  type GasUsageConfigRow,
  insertGasUsage,
  sumGasUsage,
  updateGasUsage,
} from '../resources/gas-usage/store.ts'
import { listFeatures } from '../resources/organizations/features-store.ts'
import { findOrganization } from '../resources/organizations/store.ts'
import type { SendRow } from '../resources/sends/store.ts'
import { lockOrganization, type Transaction } from '../store/index.ts'

/** The cost of an organization's sponsored sends in the window, and its limit. */
export interface GasUsage {
  readonly windowDurationMinutes: number
  readonly windowLimitUsd: string
  readonly usageUsd: string
}

/** The asking organization, and the trusted time in milliseconds since the epoch. */
interface Asking {
  readonly tx: Transaction
  readonly organizationId: string
  readonly now: number
}

/** A cost in the smallest unit of a chain's currency. */
interface Cost {
  readonly chain: Chain
  readonly cost: bigint
}

/**
 * Reads the usage of an organization: of a parent that of its whole tree, of a sub-organization its own. Undefined where
 * the parent has no config.
 */
export async function readGasUsage(asking: Asking): Promise<GasUsage | undefined> {
  const config = await findConfig(asking)
  if (config === undefined) return undefined
  const limit = limitsOf(config, asking).at(-1)!
  return {
    windowDurationMinutes: config.window_duration_minutes,
    windowLimitUsd: limit.usd,
    usageUsd: printDecimal(await usageOf(config, asking, limit), USD_PLACES),
  }
}

/**
 * Checks that a send may be paid for, by what it is estimated to cost. Throws code 7 where sponsorship is not enabled, 9
 * where the service has no price to count with, 8 where a limit would be passed.
 */
export async function checkGasAllowance(asking: Asking, estimate: Cost): Promise<void> {
  await allow(asking, estimate)
}

async function allow(asking: Asking, estimate: Cost) {
  const config = await findConfig(asking)
  if (config?.enabled !== 1) throw sponsorshipNotEnabled()
  const micros = toMicroUsd(estimate)
  if (micros === undefined) throw new ApiError(GRPC.FailedPrecondition, noPriceOf(estimate.chain))
  if (!(await fits(config, asking, micros))) throw new ApiError(GRPC.ResourceExhausted, LIMIT_REACHED)
  return { config, micros }
}

/** Checks as `checkGasAllowance` does and counts a send, which is in the store already, with its estimate. */
export async function reserveGas(asking: Asking, sendId: string, estimate: Cost): Promise<void> {
  const { config, micros } = await allow(asking, estimate)
  await insertGasUsage(asking.tx, {
    send_id: sendId,
    organization_id: asking.organizationId,
    paying_organization_id: config.organization_id,
    micro_usd: Number(micros),
    created_at: asking.now,
  })
}

/**
 * Counts a send that is about to be signed with the most that it may cost. Says why it must not be signed, and then changes
 * nothing: the most is more than was estimated and beyond a limit, or the price is gone. A send that its sender pays for
 * is not counted.
 */
export async function raiseGas(
  tx: Transaction,
  send: SendRow,
  most: Cost & { readonly now: number },
): Promise<string | undefined> {
  const usage = await findGasUsage(tx, send.organization_id, send.id)
  if (usage === undefined) return undefined
  const micros = toMicroUsd(most)
  if (micros === undefined) return noPriceOf(most.chain)
  const more = micros - BigInt(usage.micro_usd)
  const asking = { tx, organizationId: send.organization_id, now: most.now }
  const config = await findConfig(asking)
  if (more > 0n && !(config && (await fits(config, asking, more)))) return LIMIT_REACHED
  await updateGasUsage(tx, { ...usage, micro_usd: Number(micros) })
  return undefined
}

/**
 * Counts a send that is in a block with what it has cost; without a price it stays counted with the most that it might have.
 * A send that its sender pays for is not counted.
 */
export async function settleGas(tx: Transaction, { organization_id, id }: SendRow, spent: Cost): Promise<void> {
  const micros = toMicroUsd(spent)
  if (micros !== undefined) await updateGasUsage(tx, { organization_id, send_id: id, micro_usd: Number(micros) })
}

const RENT_FEATURE = 'FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED'

/**
 * Whether the rent of accounts that sponsored Solana sends create is paid in advance (docs/protocol/sends.md#rent). Who
 * pays says so: for a sub-organization the parent, whatever features of its own it has. Unstated: how the feature and
 * `solanaConfig` go together; both must be on. The feature is on when it is set, unless to `false`;
 * `rentPrefundEnabled` is on unless it is `false`.
 */
export async function paysRent(tx: Transaction, organizationId: string): Promise<boolean> {
  const config = await findConfig({ tx, organizationId })
  if (config === undefined) return false
  const feature = (await listFeatures(tx, config.organization_id)).find(({ name }) => name === RENT_FEATURE)
  const { rentPrefundEnabled = true } = JSON.parse(config.solana_config ?? '{}') as Wire.SolanaConfig
  return feature !== undefined && feature.value !== 'false' && rentPrefundEnabled
}

/** Unstated (docs/protocol/sends.md#sponsorship-limits): the text, of a refusal and of a failed send alike. */
const LIMIT_REACHED = 'gas sponsorship limit reached'

/** Unstated: the text. */
function sponsorshipNotEnabled(): ApiError {
  const message = 'request not authorized: gas sponsorship is not enabled for this organization'
  return new ApiError(GRPC.PermissionDenied, message, { code: 'REQUEST_NOT_AUTHORIZED' })
}

/** Unstated: the message where the service has no price to count dollars with. */
function noPriceOf({ caip2 }: Chain): string {
  return `gas cannot be sponsored on chain ${caip2}: the service has no price of its currency`
}

/** The config that pays for an organization's sends: its parent's, or a parent's own. */
async function findConfig({ tx, organizationId }: Omit<Asking, 'now'>): Promise<GasUsageConfigRow | undefined> {
  const organization = await findOrganization(tx, organizationId)
  const payingId = organization?.parent_id ?? organizationId
  // What others spend of its limits meanwhile is seen.
  await lockOrganization(tx, payingId)
  return findGasUsageConfig(tx, payingId)
}

interface Limit {
  readonly usd: string
  /** Whose usage counts; absent where that of the whole tree does. */
  readonly organizationId?: string
}

/** The limits that an organization's sends count towards; the narrowest is the last. */
function limitsOf(config: GasUsageConfigRow, { organizationId }: Asking): readonly Limit[] {
  const ofAll = { usd: config.org_window_limit_usd }
  if (organizationId === config.organization_id) return [ofAll]
  return [ofAll, { usd: config.sub_org_window_limit_usd, organizationId }]
}

async function usageOf(config: GasUsageConfigRow, { tx, now }: Asking, { organizationId }: Limit): Promise<bigint> {
  const since = now - config.window_duration_minutes * 60_000
  return BigInt(await sumGasUsage(tx, config.organization_id, { since, organizationId }))
}

/** Nine thousand million dollars, in millionths: no more can be counted exactly, whatever the limit. */
const MOST_COUNTED = BigInt(Number.MAX_SAFE_INTEGER)

async function fits(config: GasUsageConfigRow, asking: Asking, more: bigint): Promise<boolean> {
  for (const limit of limitsOf(config, asking)) {
    const usage = await usageOf(config, asking, limit)
    if (usage + more > parseDecimal(limit.usd, USD_PLACES)! || usage + more > MOST_COUNTED) return false
  }
  return true
}

/** Rounded up: what is counted is never less than what is spent. Undefined without a price. */
function toMicroUsd({ chain, cost }: Cost): bigint | undefined {
  return valueInUsd(chain, cost, 'up')
}
