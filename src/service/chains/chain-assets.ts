import { type Namespace, namespaceOf } from '../../chain/index.ts'
import type { ChainNode } from '../nodes/index.ts'
import { type ChainAsset, currencyOf } from './currency.ts'
import { ethereumHoldings } from './ethereum-holdings.ts'
import type { Holdings } from './holdings.ts'
import { NoToken } from './no-token.ts'
import { solanaHoldings } from './solana-holdings.ts'

/** How much of an asset an address has, in the smallest unit. */
export interface Balance {
  readonly asset: ChainAsset
  readonly amount: bigint
}

/** The assets of one chain: its currency, and the tokens that are set for it. Each throws as `ChainNode` does, and `NoToken`. */
export interface ChainAssets {
  readonly isAddress: (text: string) => boolean
  /** All of them, the currency first, then in the order of the setting. */
  list(): Promise<readonly ChainAsset[]>
  /** The name, symbol and decimals of a token, set or not; undefined for an address that is no token. */
  find(token: string): Promise<ChainAsset | undefined>
  /** The balances of an address above zero. */
  balances(address: string): Promise<readonly Balance[]>
}

const KINDS: Readonly<Record<Namespace, Holdings>> = { eip155: ethereumHoldings, solana: solanaHoldings }

/** Creates the reader of a chain's assets. What a token has said of itself is asked once. */
export function createChainAssets(caip2: string, node: ChainNode, tokens: readonly string[]): ChainAssets {
  const holdings = KINDS[namespaceOf(caip2)!]
  const currency = currencyOf(caip2)
  const known = new Map<string, ChainAsset>()

  async function describe(token: string): Promise<ChainAsset> {
    const asset = known.get(token) ?? {
      caip19: `${caip2}/${holdings.namespace}:${token}`,
      ...(await holdings.describe(node, token)),
    }
    known.set(token, asset)
    return asset
  }

  return {
    isAddress: holdings.isAddress,
    async find(token) {
      try {
        return await describe(tokens.find((set) => set.toLowerCase() === token) ?? token)
      } catch (error) {
        if (error instanceof NoToken) return undefined
        throw error
      }
    },
    async list() {
      const described = await Promise.all(tokens.map(describe))
      return [...(currency ? [currency] : []), ...described]
    },
    async balances(address) {
      const [own, ...held] = await Promise.all([
        currency && holdings.ofCurrency(node, address).then((amount) => ({ asset: currency, amount })),
        ...tokens.map(async (token) => ({
          asset: await describe(token),
          amount: await holdings.ofToken(node, token, address),
        })),
      ])
      return [...(own ? [own] : []), ...held].filter(({ amount }) => amount > 0n)
    },
  }
}
