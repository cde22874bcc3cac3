import { misspelledAs } from '../chain/index.ts'
import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { definedTwice } from './organization.ts'
import { childOf, type MapEntry, type Tree, textOf } from './tree.ts'

/** Names of receivers and their Ethereum addresses, from every file's `addressBook`. */
export type AddressBook = Readonly<Record<string, string>>

/** Reads the address book. */
export function readAddressBook(files: readonly Tree[]): {
  readonly addressBook: AddressBook
  readonly diagnostics: readonly Diagnostic[]
} {
  const { entries, diagnostics } = gatherEntries(files, 'addressBook')
  const wrong = entries.flatMap(({ value }) => checkChecksum(value))
  const addressBook = Object.fromEntries(entries.map(({ key, value }) => [key, textOf(value) ?? '']))
  return { addressBook, diagnostics: [...diagnostics, ...wrong] }
}

/** The entries of a map that may be spread over the files; a name that stands twice is reported. */
export function gatherEntries(
  files: readonly Tree[],
  section: string,
): { readonly entries: readonly MapEntry[]; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  const entries = new Map<string, MapEntry>()
  for (const entry of files.flatMap((file) => entriesOf(file, section))) {
    const first = entries.get(entry.key)
    if (first) diagnostics.push(definedTwice(entry.key, first, entry))
    else entries.set(entry.key, entry)
  }
  return { entries: [...entries.values()], diagnostics }
}

/** An address in mixed case must have the checksum of EIP-55: a digit that was mistyped would send money to nobody. */
export function checkChecksum(value: Tree | undefined): readonly Diagnostic[] {
  const address = textOf(value)
  const expected = address === undefined ? undefined : misspelledAs(address)
  if (value === undefined || expected === undefined) return []
  const help = `look it up again; if every digit is right, it is written \`${expected}\``
  const message = `\`${address}\` does not have the checksum of its digits`
  return [diagnostic('definitions/bad-address', message, value.span, { help })]
}

function entriesOf(file: Tree, section: string): readonly MapEntry[] {
  const map = childOf(file, section)
  return map?.kind === 'map' ? map.entries : []
}
