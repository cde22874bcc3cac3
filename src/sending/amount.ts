import { type Namespace, namespaceOf } from '../chain/index.ts'
import { printDecimal } from '../encoding/index.ts'
import type { NamedAsset } from './target.ts'
import { usage } from './usage.ts'

/** An amount as it was written, and in the smallest unit. */
export interface Amount {
  /** `1.5 ETH`. */
  readonly text: string
  readonly atomic: bigint
}

/** How amounts of something are written. */
interface Denomination {
  /** How many decimals each unit has before the smallest; amounts are said in the first. */
  readonly units: Readonly<Record<string, number>>
  /** The unit of a number without one; absent, a unit must be written. */
  readonly unit?: string
  /** `a wei`. */
  readonly smallest: string
  readonly example: string
}

const CURRENCIES: Readonly<Record<Namespace, Denomination>> = {
  eip155: {
    units: { ETH: 18, gwei: 9, wei: 0 },
    smallest: 'a wei',
    example: 'write it like 1.5ETH, 30gwei or 21000wei',
  },
  solana: {
    units: { SOL: 9, lamports: 0, lamport: 0 },
    smallest: 'a lamport',
    example: 'write it like 1.5SOL or 5000lamports',
  },
}

/** An amount in words, and in the smallest unit. Plain JSON. */
export interface SaidAmount {
  readonly text: string
  readonly atomic: string
}

/** Says an amount of a token in the unit of its definition. */
export function printToken(
  atomic: bigint,
  { decimals, symbol }: { readonly decimals: number; readonly symbol: string },
): string {
  return `${printDecimal(atomic, decimals)} ${symbol}`
}

/** Says an amount of the currency of a chain in its unit, as it is read. */
export function printAmount(atomic: bigint, namespace: Namespace): string {
  const [unit, decimals] = Object.entries(CURRENCIES[namespace].units)[0]!
  return `${printDecimal(atomic, decimals)} ${unit}`
}

/** No value of a transaction or a token is larger: Ethereum's word, and what Solana's programs count in. */
const LARGEST: Readonly<Record<Namespace, bigint>> = { eip155: 2n ** 256n - 1n, solana: 2n ** 64n - 1n }

/**
 * Reads an amount of the currency of a chain with its unit, `1.5ETH` or `1.5SOL`; nothing is ever rounded, and no unit is
 * guessed. Throws `cli/usage`.
 */
export function parseAmount(written: string, namespace: Namespace = 'eip155'): Amount {
  return parse(written, CURRENCIES[namespace], LARGEST[namespace])
}

/** Reads an amount of a token, `12.5` or `12.5usdc`: another unit than its own is a mistake. Throws `cli/usage`. */
export function parseAssetAmount(written: string, { name, asset }: NamedAsset): Amount {
  const { symbol, decimals, chain } = asset
  const denomination = {
    units: { [symbol]: decimals, [name]: decimals },
    unit: symbol,
    smallest: `the smallest part of ${name}`,
    example: `write it like 12${decimals > 0 ? '.5' : ''} or 12${decimals > 0 ? '.5' : ''}${symbol}`,
  }
  return parse(written, denomination, LARGEST[namespaceOf(chain)!])
}

function parse(written: string, { units, unit: own, smallest, example }: Denomination, largest: bigint): Amount {
  const [, whole, fraction = '', given = ''] = /^(\d{1,80})(?:\.(\d{1,80}))? ?(\S*)$/.exec(written.trim()) ?? []
  const unit = given === '' ? own : Object.keys(units).find((one) => one.toLowerCase() === given.toLowerCase())
  if (whole === undefined || unit === undefined) {
    const expected = own === undefined ? 'an amount with its unit' : `an amount of ${own}`
    throw usage(`expected ${expected}, got \`${written}\``, example)
  }
  const decimals = units[unit]!
  if (fraction.length > decimals)
    throw usage(`\`${written}\` is finer than ${smallest}: ${unit} has ${decimals} decimals`, example)
  const atomic = BigInt(whole + fraction.padEnd(decimals, '0'))
  if (atomic > largest) throw usage(`\`${written}\` is more than there can be`, example)
  return { text: `${whole}${fraction === '' ? '' : `.${fraction}`} ${unit}`, atomic }
}
