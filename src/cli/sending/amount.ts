import type { Asset } from '../../definitions/index.ts'
import { usage } from './usage.ts'

/** An amount as it was written, and in the smallest unit. */
export interface Amount {
  /** `1.5 eth`. */
  readonly text: string
  readonly atomic: bigint
}

/** How amounts of something are written. */
interface Denomination {
  /** How many decimals each unit has before the smallest. */
  readonly units: Readonly<Record<string, number>>
  /** What a number without a unit is in; without one, no unit is guessed. */
  readonly unit?: string
  /** `a wei`. */
  readonly smallest: string
  readonly example: string
}

const ETHER: Denomination = {
  units: { eth: 18, gwei: 9, wei: 0 },
  smallest: 'a wei',
  example: 'write it like 1.5eth, 30gwei or 21000wei',
}

/** No value of a transaction or a token is larger (Ethereum's word). */
const LARGEST = 2n ** 256n - 1n

/**
 * Reads an amount of Ethereum's currency with its unit, `1.5eth`; nothing is ever rounded, and no unit is guessed. Throws
 * `cli/usage`.
 */
export function parseAmount(written: string): Amount {
  return parse(written, ETHER)
}

/** Reads an amount of a token, `12.5` or `12.5usdc`: another unit than its own is a mistake. Throws `cli/usage`. */
export function parseAssetAmount(
  written: string,
  { name, asset }: { readonly name: string; readonly asset: Asset },
): Amount {
  const { symbol, decimals } = asset
  return parse(written, {
    units: { [symbol]: decimals, [name]: decimals },
    unit: symbol,
    smallest: `the smallest part of ${name}`,
    example: `write it like 12${decimals > 0 ? '.5' : ''} or 12${decimals > 0 ? '.5' : ''}${symbol}`,
  })
}

function parse(written: string, { units, unit: own, smallest, example }: Denomination): Amount {
  const [, whole, fraction = '', given = ''] = /^(\d{1,80})(?:\.(\d{1,80}))? ?(\S*)$/.exec(written.trim()) ?? []
  // Ethereum's units are written in one way; a token's symbol is a matter of taste.
  const same = (one: string) => (own === undefined ? one === given : one.toLowerCase() === given.toLowerCase())
  const unit = given === '' ? own : Object.keys(units).find(same)
  if (whole === undefined || unit === undefined) {
    const expected = own === undefined ? 'an amount with its unit' : `an amount of ${own}`
    throw usage(`expected ${expected}, got \`${written}\``, example)
  }
  const decimals = units[unit]!
  if (fraction.length > decimals)
    throw usage(`\`${written}\` is finer than ${smallest}: ${unit} has ${decimals} decimals`, example)
  const atomic = BigInt(whole + fraction.padEnd(decimals, '0'))
  if (atomic > LARGEST) throw usage(`\`${written}\` is more than there can be`, example)
  return { text: `${whole}${fraction === '' ? '' : `.${fraction}`} ${unit}`, atomic }
}
