import type { ChainNode } from '../nodes/index.ts'
import type { ChainAsset } from './currency.ts'

/** The questions to a family of chains. Each throws as `ChainNode` does. */
export interface Holdings {
  readonly isAddress: (text: string) => boolean
  readonly ofCurrency: (node: ChainNode, address: string) => Promise<bigint>
  /** The name, symbol and decimals of a token; `token` is its contract or mint. Throws `NoToken`. */
  readonly describe: (node: ChainNode, token: string) => Promise<Omit<ChainAsset, 'caip19'>>
  readonly ofToken: (node: ChainNode, token: string, address: string) => Promise<bigint>
  /** What CAIP-19 calls a token of this kind. */
  readonly namespace: string
}
