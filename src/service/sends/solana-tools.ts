import type { Chain } from './chains.ts'
import type { SendTools } from './family.ts'
import type { SolanaNode } from './solana-node.ts'

export interface SolanaTools extends SendTools {
  readonly chain: Chain
  readonly node: SolanaNode
}
