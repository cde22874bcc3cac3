/**
 * The most that a send offers where nobody has said it. It stands in the parameters that are signed, as `maxFeePerGas`, on Solana as the
 * compute budget of the transaction, so that nothing a node or a service says later raises it.
 */
import { type FeeCeiling, isSameSend, type PlanStore, type SendOrder, sendIdOf } from '../../activities/index.ts'
import {
  FEE_HISTORY_CALL,
  FEE_MULTIPLE,
  type FeeHistory,
  feeCapOf,
  feeCeilingOf,
  namespaceOf,
  readSolanaDraft,
  SOLANA_PAYMENT_CAP,
  SOLANA_SIGNATURE_FEE,
  solanaFee,
  solanaPaymentFee,
  solanaSendBytes,
  usualFeesOf,
  usualUnitPriceOf,
  withSolanaFee,
} from '../chain/index.ts'
import type { JsonObject } from '../protocol/index.ts'
import { askNode } from './ask-node.ts'
import { chainOf } from './order.ts'

/** What the user has said of chains. */
export interface FeeSettings {
  /** Nodes of the user's own, by chain. */
  readonly nodes: Readonly<Record<string, string>>
  /** The most for a unit of gas, in wei, and on Solana for a send, in lamports, by chain. @default a cap of each chain */
  readonly caps: Readonly<Record<string, bigint>>
  /** How many times what recent blocks took, by chain. @default 4 */
  readonly multiples: Readonly<Record<string, number>>
}

/** Gives orders a ceiling. */
export type WithFeeCeiling = (order: SendOrder) => Promise<SendOrder>

/** What a send is given where nobody has said its fee. */
interface Ceiling {
  readonly feeCeiling: FeeCeiling
  readonly parameters: JsonObject
}

/**
 * Makes what gives orders a ceiling: that with which their reference was begun; otherwise a multiple of what recent blocks took, by
 * the user's own node; otherwise the chain's cap. Each chain is asked once.
 */
export function createFeeCeilings(settings: FeeSettings, ledger: PlanStore['sends']): WithFeeCeiling {
  const ofEthereum = createEthereumCeilings(settings)
  const ofSolana = createSolanaCeilings(settings)
  return async (order) => {
    const asked = order.parameters as JsonObject
    const isSolana = namespaceOf(chainOf(order)) === 'solana'
    if (isSolana ? isPriceSaid(asked) : asked['maxFeePerGas'] !== undefined) return order
    const sendId = sendIdOf(order)
    const entered = await ledger.findOrder(sendId)
    if (entered !== undefined && isSameSend(entered, order)) {
      const isFree = (await ledger.getProgress(sendId))?.state === 'given up'
      if (!isFree) return { ...order, ...ceilingOf(entered), parameters: entered.parameters }
    }
    return { ...order, ...(await (isSolana ? ofSolana : ofEthereum)(order)) }
  }
}

/** The ceiling that a chain of Ethereum's kind has now, for a unit of gas, by the settings of who looks. */
export function createGasCeilings({ nodes, caps, multiples }: FeeSettings) {
  const found = new Map<string, Promise<{ readonly feeCeiling: FeeCeiling; readonly wei: bigint }>>()
  const find = async (caip2: string) => {
    const cap = caps[caip2] ?? feeCapOf(caip2)
    const times = multiples[caip2] ?? FEE_MULTIPLE
    const node = nodes[caip2]
    const usual = node === undefined ? undefined : await readUsualFees(node)
    const by = usual === undefined ? { by: 'cap' as const } : { by: 'blocks' as const, times }
    return { feeCeiling: { ...by, capWei: cap.toString() }, wei: feeCeilingOf(usual, { cap, times }) }
  }
  return (caip2: string) => {
    if (!found.has(caip2)) found.set(caip2, find(caip2))
    return found.get(caip2)!
  }
}

function createEthereumCeilings(settings: FeeSettings) {
  const ceilingOfChain = createGasCeilings(settings)
  return async (order: SendOrder): Promise<Ceiling> => {
    const { feeCeiling, wei } = await ceilingOfChain(chainOf(order))
    const { gasLimit, ...rest } = order.parameters as JsonObject
    const limit = gasLimit === undefined ? {} : { gasLimit }
    return { feeCeiling, parameters: { ...rest, maxFeePerGas: wei.toString(), ...limit } }
  }
}

/** The price of a unit × the units that the payment is given; what is offered there is paid. */
function createSolanaCeilings({ nodes, caps, multiples }: FeeSettings) {
  return async (order: SendOrder): Promise<Ceiling> => {
    const caip2 = chainOf(order)
    const asked = order.parameters as JsonObject & { readonly unsignedTransaction: string }
    const said = caps[caip2] ?? SOLANA_PAYMENT_CAP
    // No cap lets a transaction go without its signature.
    const cap = [said, SOLANA_SIGNATURE_FEE].toSorted(bySize)[1]!
    const times = multiples[caip2] ?? FEE_MULTIPLE
    const node = nodes[caip2]
    const { writable } = readSolanaDraft(solanaSendBytes(asked as never))
    const usual = node === undefined ? undefined : await readUsualUnitPrice(node, writable)
    const by = usual === undefined ? { by: 'cap' as const } : { by: 'blocks' as const, times }
    const fee = usual === undefined ? cap : solanaPaymentFee(asked.unsignedTransaction, BigInt(times) * usual)
    const unsignedTransaction = withSolanaFee(asked.unsignedTransaction, [fee, cap].toSorted(bySize)[0])
    return { feeCeiling: { ...by, capLamports: cap.toString() }, parameters: { ...asked, unsignedTransaction } }
  }
}

const bySize = (one: bigint, other: bigint) => (one < other ? -1 : 1)

function isPriceSaid(parameters: JsonObject): boolean {
  return readSolanaDraft(solanaSendBytes(parameters as never)).budget.unitPrice !== undefined
}

function ceilingOf({ feeCeiling }: SendOrder): Pick<SendOrder, 'feeCeiling'> {
  return feeCeiling === undefined ? {} : { feeCeiling }
}

/** Whether what another machine has offered is no more than what this one would ever: no bound, from before there were any, is none. */
export function isWithinCap({ feeCeiling }: SendOrder, { maxFeePerGas, ...rest }: JsonObject): boolean {
  if (feeCeiling === undefined) return false
  if (feeCeiling.capLamports !== undefined) {
    return solanaFee(solanaSendBytes(rest as never)) <= BigInt(feeCeiling.capLamports)
  }
  return typeof maxFeePerGas !== 'string' || BigInt(maxFeePerGas) <= BigInt(feeCeiling.capWei ?? 0)
}

async function readUsualFees(url: string) {
  try {
    return usualFeesOf(await askNode<FeeHistory | null>(url, 'eth_feeHistory', FEE_HISTORY_CALL))
  } catch {
    return undefined
  }
}

/** More accounts a node does not look at (Solana's documentation, "getRecentPrioritizationFees"). */
const MOST_ACCOUNTS = 128

async function readUsualUnitPrice(url: string, writable: readonly string[]) {
  const asked = [writable.slice(0, MOST_ACCOUNTS)]
  try {
    const slots = await askNode<readonly { readonly prioritizationFee: number }[]>(
      url,
      'getRecentPrioritizationFees',
      asked,
    )
    return usualUnitPriceOf(slots.map(({ prioritizationFee }) => prioritizationFee)) ?? 0n
  } catch {
    return undefined
  }
}
