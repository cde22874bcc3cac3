import type { Chain } from '../chains/index.ts'
import type { SolanaNode } from '../nodes/index.ts'
import type { SendTools } from './family.ts'

export interface SolanaTools extends SendTools {
  readonly chain: Chain
  readonly node: SolanaNode
}
