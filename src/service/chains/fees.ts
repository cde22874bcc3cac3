/**
 * What a transaction offers for a unit of gas, and the most that it may. A node names what the next block takes; it is believed
 * up to a multiple of what the blocks of late have taken, and never above the chain's cap, which no node can raise.
 */
import type { EthereumNode, Fees, MarketFees } from '../nodes/index.ts'
import type { Chain } from './chains.ts'

/** Base fees move by an eighth a block at most: in half of the blocks that are looked back upon, threefold. */
const TIMES_USUAL = 4n
/** Where blocks were empty, nobody has offered anything of late: what is taken for a usual tip is never less, in wei. */
const LEAST_USUAL_TIP = 2_000_000_000n

/** What a send offers where nobody has said it, and the most that it may offer. */
export interface FeeOffer {
  readonly fees: Fees
  /** For the whole of a unit of gas. */
  readonly ceiling: bigint
  /** The base fee that the node names. */
  readonly baseFee: bigint
}

/** Chooses fees: the tip of the node, and room for the base fee to double, both beneath their ceilings. Throws as `ChainNode` does. */
export async function offerFees(
  node: EthereumNode,
  { maxFeePerGas: cap }: Pick<Chain, 'maxFeePerGas'>,
): Promise<FeeOffer> {
  const [market, usual] = await Promise.all([node.marketFees(), node.usualFees()])
  const most = mostOf(usual)
  const ceiling = least(most === undefined ? cap : 2n * most.baseFee + most.tip, cap)
  const tip = least(market.tip, most?.tip ?? cap, ceiling)
  const maxFeePerGas = least(2n * market.baseFee + tip, ceiling)
  return { fees: { maxFeePerGas, maxPriorityFeePerGas: tip }, ceiling, baseFee: market.baseFee }
}

function mostOf(usual: MarketFees | undefined): MarketFees | undefined {
  if (usual === undefined) return undefined
  const tip = usual.tip > LEAST_USUAL_TIP ? usual.tip : LEAST_USUAL_TIP
  return { baseFee: TIMES_USUAL * usual.baseFee, tip: TIMES_USUAL * tip }
}

function least(first: bigint, ...rest: readonly bigint[]): bigint {
  let found = first
  for (const value of rest) if (value < found) found = value
  return found
}
