import { confirmationsOf, FEE_MULTIPLE, feeCapOf, normalizeCaip2 } from '../../chain/index.ts'
import { apiError, apiErrorAt } from '../../protocol/index.ts'
import { type ChainNode, createChainNode, GAS_STATION, type GasStation } from '../nodes/index.ts'
import { type ChainAssets, createChainAssets } from './chain-assets.ts'

/** How the service reaches a chain, and when it takes a transaction for included. */
export interface ChainSettings {
  /** The node's JSON-RPC address, http or https. */
  readonly url: string
  /**
   * JSON-RPC addresses of further nodes: before a send is final, replaced or given up, each of them must say so too.
   * @default none
   */
  readonly witnesses?: readonly string[]
  /**
   * Blocks, the including one counted, before a send is final, and looked at no more. Until then a block that is taken
   * back takes the send back. For Ethereum chains. @default what is published for the chain (`src/chain/confirmations.ts`), 32 for others
   */
  readonly confirmations?: number
  /** Blocks, the including one counted, before a send is told as included. @default 1 */
  readonly includedAfter?: number
  /** How often open sends are looked at, in milliseconds. @default 1000 */
  readonly pollMs?: number
  /** Whether a send that is not included is offered for more, up to `maxFeePerGas`; the nonce stays. @default 'never' */
  readonly bump?: 'never' | 'auto'
  /** How long a send waits to be included before it is offered for more, in milliseconds. @default 60000 */
  readonly bumpAfterMs?: number
  /**
   * The most that the service offers for a unit of gas, in wei, whatever nodes say; who sets `maxFeePerGas` in a send bounds
   * that send alone. For Ethereum chains. @default that of the chain (`src/chain/fee-caps.ts`)
   */
  readonly maxFeePerGas?: bigint
  /** On Solana the most that a send may cost in all, in lamports, where it does not set a price itself. @default 0.0015 SOL */
  readonly maxLamports?: bigint
  /**
   * How many times what recent blocks took in the median (base fee and tip, on Solana the price of a compute unit) is believed and
   * offered at most, beneath the cap. @default 4
   */
  readonly feeMultiple?: number
  /**
   * Whether a lane whose chain is ahead of the records here holds still until what used the nonces is known, or goes on behind
   * them. @default 'hold'
   */
  readonly unknownNonces?: 'hold' | 'follow'
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

export interface Chain extends Required<Omit<ChainSettings, 'usdPrice' | 'witnesses'>> {
  readonly caip2: string
  readonly usdPrice?: string
  readonly node: ChainNode
  /** Further nodes, which must agree with what is told for good. */
  readonly witnesses: readonly ChainNode[]
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

/** What the largest transaction that there can be costs at a lamport a unit, and a little more: an own choice. */
const MAX_LAMPORTS = 1_500_000n

function createChain(caip2: string, given: ChainSettings): Chain {
  const node = createChainNode(given.url)
  const tokens = given.tokens ?? []
  const assets = createChainAssets(caip2, node, tokens)
  const witnesses = (given.witnesses ?? []).map(createChainNode)
  const defaults = {
    ...{ confirmations: confirmationsOf(caip2), includedAfter: 1, pollMs: 1_000, gasStation: GAS_STATION },
    ...{ bump: 'never' as const, bumpAfterMs: 60_000, maxFeePerGas: feeCapOf(caip2), unknownNonces: 'hold' as const },
    ...{ feeMultiple: FEE_MULTIPLE, maxLamports: MAX_LAMPORTS },
  }
  return { ...defaults, ...given, tokens, caip2, node, witnesses, assets }
}
