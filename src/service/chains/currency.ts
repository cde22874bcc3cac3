import { type Namespace, namespaceOf } from '../../chain/index.ts'

/** An asset of a chain. `caip19` is its CAIP-19 id; an asset that has told no name has none. */
export interface ChainAsset {
  readonly caip19: string
  readonly symbol?: string
  readonly name?: string
  /** Digits between what people count in and the smallest unit. */
  readonly decimals: number
}

interface Currency extends Required<Omit<ChainAsset, 'caip19'>> {
  /** The coin's number in SLIP-0044. */
  readonly coin: number
}

const ETHER: Currency = { symbol: 'ETH', name: 'Ether', decimals: 18, coin: 60 }
const POL: Currency = { symbol: 'POL', name: 'Polygon Ecosystem Token', decimals: 18, coin: 966 }
const BNB: Currency = { symbol: 'BNB', name: 'BNB', decimals: 18, coin: 714 }
const MON: Currency = { symbol: 'MON', name: 'Monad', decimals: 18, coin: 60 }
const SOL: Currency = { symbol: 'SOL', name: 'Solana', decimals: 9, coin: 501 }

/** The chains of the API whose currency is not the one of their kind; Tempo has none, fees are paid in tokens there. */
const CURRENCIES: Readonly<Record<string, Currency | 'none'>> = {
  'eip155:137': POL,
  'eip155:80002': POL,
  'eip155:56': BNB,
  'eip155:97': BNB,
  'eip155:143': MON,
  'eip155:10143': MON,
  'eip155:4217': 'none',
  'eip155:42431': 'none',
}

const OF_KIND: Readonly<Record<Namespace, Currency>> = { eip155: ETHER, solana: SOL }

/** The currency that a chain's fees are paid in; undefined where it has none. */
export function currencyOf(caip2: string): Required<ChainAsset> | undefined {
  const currency = CURRENCIES[caip2] ?? OF_KIND[namespaceOf(caip2)!]
  if (currency === 'none') return undefined
  const { coin, ...facts } = currency
  return { caip19: `${caip2}/slip44:${coin}`, ...facts }
}
