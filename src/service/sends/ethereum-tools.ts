import type { Chain } from '../chains/index.ts'
import type { EthereumNode } from '../nodes/index.ts'
import type { SendTools } from './family.ts'

/** What sending on one Ethereum chain takes. */
export interface EthereumTools extends SendTools {
  readonly chain: Chain
  readonly node: EthereumNode
}
