import type { Diagnostic } from '../diagnostics/index.ts'
import { checkChecksum, gatherEntries } from './address-book.ts'
import { childOf, type Tree, textOf, toPlain } from './tree.ts'

/** A token on one chain: what its contract does not say in a transaction, and a person cannot do without. */
export interface Asset {
  /** In CAIP-2 form, such as `eip155:1`. */
  readonly chain: string
  /** Of its contract. */
  readonly address: string
  /** How many decimals one of it has: the contract counts in the smallest. */
  readonly decimals: number
  /** How people write it after an amount. @default its name */
  readonly symbol: string
}

export type Assets = Readonly<Record<string, Asset>>

/** Reads the assets of every file; what the schema has refused already is left out. */
export function readAssets(files: readonly Tree[]): {
  readonly assets: Assets
  readonly diagnostics: readonly Diagnostic[]
} {
  const { entries, diagnostics } = gatherEntries(files, 'assets')
  const wrong = entries.flatMap(({ value }) => checkChecksum(childOf(value, 'address')))
  const assets = entries.flatMap(({ key, value }): [string, Asset][] => {
    const [chain, address] = [textOf(childOf(value, 'chain')), textOf(childOf(value, 'address'))]
    const decimals = childOf(value, 'decimals')
    const count = decimals && toPlain(decimals)
    if (chain === undefined || address === undefined || typeof count !== 'number') return []
    return [[key, { chain, address, decimals: count, symbol: textOf(childOf(value, 'symbol')) ?? key }]]
  })
  return { assets: Object.fromEntries(assets), diagnostics: [...diagnostics, ...wrong] }
}
