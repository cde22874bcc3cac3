/**
 * The most that a send on Ethereum offers for a unit of gas where nobody has said it. It stands in the parameters that are signed, as
 * `maxFeePerGas`, so that nothing a node or a service says later raises it.
 */
import { isSameSend, type PlanStore, type SendOrder, sendIdOf } from '../../activities/index.ts'
import { FEE_HISTORY_CALL, type FeeHistory, feeCapOf, feeCeilingOf, namespaceOf, usualFeesOf } from '../chain/index.ts'
import type { JsonObject } from '../protocol/index.ts'
import { chainOf } from './order.ts'

/** What the user has said of chains. */
export interface FeeSettings {
  /** Nodes of the user's own, by chain. */
  readonly nodes: Readonly<Record<string, string>>
  /** The most for a unit of gas, in wei, by chain. @default a cap of each chain */
  readonly caps: Readonly<Record<string, bigint>>
}

/** Gives orders a ceiling. */
export type WithFeeCeiling = (order: SendOrder) => Promise<SendOrder>

/** How long a node may take to answer: without it the cap holds. */
const TIMEOUT_MS = 5_000

/**
 * Makes what gives orders a ceiling: that with which their reference was begun; otherwise a multiple of what recent blocks took, by
 * the user's own node; otherwise the chain's cap. Each chain is asked once.
 */
export function createFeeCeilings({ nodes, caps }: FeeSettings, ledger: PlanStore['sends']): WithFeeCeiling {
  const found = new Map<string, Promise<Pick<SendOrder, 'feeCeiling'> & { readonly maxFeePerGas: string }>>()
  const find = async (caip2: string) => {
    const cap = caps[caip2] ?? feeCapOf(caip2)
    const node = nodes[caip2]
    const usual = node === undefined ? undefined : await readUsualFees(node)
    const feeCeiling = { by: usual === undefined ? ('cap' as const) : ('blocks' as const), capWei: cap.toString() }
    return { feeCeiling, maxFeePerGas: feeCeilingOf(usual, cap).toString() }
  }
  return async (order) => {
    const caip2 = chainOf(order)
    const parameters = order.parameters as JsonObject
    if (namespaceOf(caip2) !== 'eip155' || parameters['maxFeePerGas'] !== undefined) return order
    const sendId = sendIdOf(order)
    const entered = await ledger.findOrder(sendId)
    if (entered !== undefined && isSameSend(entered, order)) {
      const isFree = (await ledger.getProgress(sendId))?.state === 'given up'
      if (!isFree) return { ...order, ...ceilingOf(entered), parameters: entered.parameters }
    }
    if (!found.has(caip2)) found.set(caip2, find(caip2))
    const { feeCeiling, maxFeePerGas } = await found.get(caip2)!
    const { gasLimit, ...rest } = parameters
    const limit = gasLimit === undefined ? {} : { gasLimit }
    return { ...order, ...(feeCeiling ? { feeCeiling } : {}), parameters: { ...rest, maxFeePerGas, ...limit } }
  }
}

function ceilingOf({ feeCeiling }: SendOrder): Pick<SendOrder, 'feeCeiling'> {
  return feeCeiling === undefined ? {} : { feeCeiling }
}

/** Whether what another machine has offered is no more than what this one would ever: no bound, from before there were any, is none. */
export function isWithinCap({ feeCeiling }: SendOrder, { maxFeePerGas }: JsonObject): boolean {
  if (feeCeiling === undefined) return false
  return typeof maxFeePerGas !== 'string' || BigInt(maxFeePerGas) <= BigInt(feeCeiling.capWei)
}

async function readUsualFees(url: string) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_feeHistory', params: FEE_HISTORY_CALL })
  const headers = { 'content-type': 'application/json' }
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal })
    const { result = null } = (await response.json()) as { readonly result?: FeeHistory | null }
    return usualFeesOf(result)
  } catch {
    return undefined
  }
}
