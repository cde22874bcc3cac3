/**
 * What a transaction offers for a unit of gas, and the most that it may. A node names what the next block takes; it is believed
 * up to a multiple of what the blocks of late have taken, and never above the chain's cap, which no node can raise.
 */
import { feeCeilingOf, mostOfUsual } from '../../chain/index.ts'
import type { EthereumNode, Fees } from '../nodes/index.ts'
import type { Chain } from './chains.ts'

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
  { maxFeePerGas: cap, feeMultiple: times }: Pick<Chain, 'maxFeePerGas' | 'feeMultiple'>,
): Promise<FeeOffer> {
  const [market, usual] = await Promise.all([node.marketFees(), node.usualFees()])
  const most = usual && mostOfUsual(usual, times)
  const ceiling = feeCeilingOf(usual, { cap, times })
  const tip = least(market.tip, most?.tip ?? cap, ceiling)
  const maxFeePerGas = least(2n * market.baseFee + tip, ceiling)
  return { fees: { maxFeePerGas, maxPriorityFeePerGas: tip }, ceiling, baseFee: market.baseFee }
}

function least(first: bigint, ...rest: readonly bigint[]): bigint {
  let found = first
  for (const value of rest) if (value < found) found = value
  return found
}
