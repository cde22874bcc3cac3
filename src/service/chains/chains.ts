import { normalizeCaip2 } from '../../chain/index.ts'
import { apiError, apiErrorAt } from '../../protocol/index.ts'
import { type ChainNode, createChainNode, GAS_STATION, type GasStation } from '../nodes/index.ts'
import { type ChainAssets, createChainAssets } from './chain-assets.ts'

/** How the service reaches a chain, and when it takes a transaction for included. */
export interface ChainSettings {
  /** The node's JSON-RPC address, http or https. */
  readonly url: string
  /** Blocks, the including one counted, before a send is final; a block that vanishes earlier costs nothing. @default 1 */
  readonly confirmations?: number
  /** How often open sends are looked at, in milliseconds. @default 1000 */
  readonly pollMs?: number
  /** How long a send waits to be included before it is sent again with higher fees, in milliseconds. @default 60000 */
  readonly bumpAfterMs?: number
  /**
   * Dollars for one of the chain's currency, decimal: what sponsored sends are counted with.
   * @default none, and then nothing is sponsored there
   */
  readonly usdPrice?: string
  /** What carries out executions, on Ethereum chains. @default the published contracts, version 1.1 */
  readonly gasStation?: GasStation
  /** Contracts of EIP-20 tokens, or mints of SPL tokens, whose balances are told besides the chain's currency. @default none */
  readonly tokens?: readonly string[]
}

/** Chain ids in CAIP-2 form, such as `eip155:1`, and how each is reached. */
export type ChainsSettings = Readonly<Record<string, ChainSettings>>

export interface Chain extends Required<Omit<ChainSettings, 'usdPrice'>> {
  readonly caip2: string
  readonly usdPrice?: string
  readonly node: ChainNode
  readonly assets: ChainAssets
}

/** The chains that this service serves. */
export interface Chains {
  readonly all: readonly Chain[]
  /** Finds the chain of a send. Throws the API's refusal for one that is not served. */
  require(caip2: string): Chain
  /**
   * Finds the chain that a query reads. Throws code 12 where there is no node to read it from
   * (docs/protocol/sends.md#chains).
   */
  requireSource(caip2: string): Chain
}

export function createChains(settings: ChainsSettings): Chains {
  // A chain that is named in two ways is one: two who send on it would send everything twice.
  const byId = new Map(Object.entries(settings).map(([caip2, given]) => [normalizeCaip2(caip2), given]))
  const all = [...byId].map(([caip2, given]) => createChain(caip2, given))
  const find = (caip2: string) => all.find((each) => each.caip2 === normalizeCaip2(caip2))
  return {
    all,
    require(caip2) {
      const chain = find(caip2)
      if (chain) return chain
      const served = all.length === 0 ? 'none is' : `served: ${all.map((each) => each.caip2).join(', ')}`
      throw apiErrorAt('caip2', 'requestInvalid', `chain ${caip2} is not served here (${served})`)
    },
    requireSource(caip2) {
      const chain = find(caip2)
      if (chain) return chain
      throw apiError('notImplemented', `a query of chain ${caip2} (no node is set for it)`)
    },
  }
}

function createChain(caip2: string, given: ChainSettings): Chain {
  const node = createChainNode(given.url)
  const tokens = given.tokens ?? []
  const assets = createChainAssets(caip2, node, tokens)
  const defaults = { confirmations: 1, pollMs: 1_000, bumpAfterMs: 60_000, gasStation: GAS_STATION }
  return { ...defaults, ...given, tokens, caip2, node, assets }
}
