import { namespaceOf, namespaceOfAddress, namespaces, normalizeCaip2, type TokenProgram } from '../chain/index.ts'
import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { checkAddress, gatherEntries } from './address-book.ts'
import { childOf, type MapEntry, type Tree, textOf, toPlain } from './tree.ts'

/** A token on one chain: what its contract does not say in a transaction, and a person cannot do without. */
export interface Asset {
  /** In CAIP-2 form, such as `eip155:1`; a cluster of Solana in the one form that it is compared in. */
  readonly chain: string
  /** Of its contract, or of its mint on Solana. */
  readonly address: string
  /** How many decimals one of it has: the contract counts in the smallest. */
  readonly decimals: number
  /** How people write it after an amount. @default its name */
  readonly symbol: string
  /** The program that its mint is of, on Solana alone. @default `token` */
  readonly program?: TokenProgram
}

export type Assets = Readonly<Record<string, Asset>>

/** Reads the assets of every file; what the schema has refused already is left out. */
export function readAssets(files: readonly Tree[]): {
  readonly assets: Assets
  readonly entries: readonly MapEntry[]
  readonly diagnostics: readonly Diagnostic[]
} {
  const { entries, diagnostics } = gatherEntries(files, 'assets')
  const wrong = entries.flatMap(({ value }) => [...checkAddress(childOf(value, 'address')), ...checkFit(value)])
  const assets = entries.flatMap(({ key, value }): [string, Asset][] => {
    const [chain, address] = [textOf(childOf(value, 'chain')), textOf(childOf(value, 'address'))]
    const decimals = childOf(value, 'decimals')
    const count = decimals && toPlain(decimals)
    if (chain === undefined || address === undefined || typeof count !== 'number') return []
    const symbol = textOf(childOf(value, 'symbol')) ?? key
    const program = (textOf(childOf(value, 'program')) ?? 'token') as TokenProgram
    const onSolana = namespaceOf(chain) === 'solana' ? { program } : {}
    return [[key, { chain: normalizeCaip2(chain), address, decimals: count, symbol, ...onSolana }]]
  })
  return { assets: Object.fromEntries(assets), entries, diagnostics: [...diagnostics, ...wrong] }
}

/** Address and program are of the kind of chain that the asset is on. */
function checkFit(asset: Tree): readonly Diagnostic[] {
  const [address, program] = [childOf(asset, 'address'), childOf(asset, 'program')]
  const expected = namespaceOf(textOf(childOf(asset, 'chain')) ?? '')
  const given = namespaceOfAddress(textOf(address) ?? '')
  if (expected === undefined) return []
  const { name } = namespaces[expected]
  const wrong: Diagnostic[] = []
  if (address !== undefined && given !== undefined && given !== expected) {
    const message = `expected an address on ${name}, as the chain is, got one on ${namespaces[given].name}`
    const help = 'correct `chain`, or look the address up there'
    wrong.push(diagnostic('definitions/bad-address', message, address.span, { help }))
  }
  if (program !== undefined && expected !== 'solana') {
    const message = `a token on ${name} has no \`program\``
    wrong.push(diagnostic('definitions/unknown-key', message, program.span, { help: 'leave it out' }))
  }
  return wrong
}
