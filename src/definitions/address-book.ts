import { misspelledAs, namespaceOfAddress } from '../chain/index.ts'
import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { checkName } from './names.ts'
import { definedTwice } from './organization.ts'
import { childOf, type MapEntry, type Tree, textOf } from './tree.ts'

/** Names of receivers and their addresses on Ethereum or Solana, from every file's `addressBook`. */
export type AddressBook = Readonly<Record<string, string>>

/** Reads the address book. */
export function readAddressBook(files: readonly Tree[]): {
  readonly addressBook: AddressBook
  readonly diagnostics: readonly Diagnostic[]
} {
  const { entries, diagnostics } = gatherEntries(files, 'addressBook')
  const wrong = entries.flatMap(({ value }) => checkAddress(value))
  const addressBook = Object.fromEntries(entries.map(({ key, value }) => [key, textOf(value) ?? '']))
  return { addressBook, diagnostics: [...diagnostics, ...wrong] }
}

/** The entries of a map that may be spread over the files; a name that stands twice, or that cannot be read, is reported. */
export function gatherEntries(
  files: readonly Tree[],
  section: string,
): { readonly entries: readonly MapEntry[]; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const entries = new Map<string, MapEntry>()
  for (const entry of files.flatMap((file) => entriesOf(file, section))) {
    const first = entries.get(entry.key)
    const wrong = checkName({ name: entry.key, span: entry.keySpan })
    if (first) diagnostics.push(definedTwice(entry.key, first, entry))
    else if (wrong) diagnostics.push(wrong)
    else entries.set(entry.key, entry)
  }
  return { entries: [...entries.values()], diagnostics }
}

/**
 * A digit that was mistyped would send money to nobody: an Ethereum address in mixed case must have the checksum of EIP-55,
 * base58 must be of 32 bytes. What the schema has refused already is left out.
 */
export function checkAddress(value: Tree | undefined): readonly Diagnostic[] {
  const address = textOf(value)
  if (value === undefined || address === undefined) return []
  const wrong = (message: string, help: string) => [
    diagnostic('definitions/bad-address', message, value.span, { help }),
  ]
  const expected = misspelledAs(address)
  if (expected !== undefined) {
    const help = `look it up again; if every digit is right, it is written \`${expected}\``
    return wrong(`\`${address}\` does not have the checksum of its digits`, help)
  }
  if (namespaceOfAddress(address) !== undefined || !/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address)) return []
  return wrong(`\`${address}\` is no address on Solana: it is not of 32 bytes`, 'look it up again')
}

function entriesOf(file: Tree, section: string): readonly MapEntry[] {
  const map = childOf(file, section)
  return map?.kind === 'map' ? map.entries : []
}
