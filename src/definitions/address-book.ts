import { checksummed } from '../chain/index.ts'
import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { definedTwice } from './organization.ts'
import { childOf, type MapEntry, type Tree, textOf } from './tree.ts'

/** Names of receivers and their Ethereum addresses, from every file's `addressBook`. */
export type AddressBook = Readonly<Record<string, string>>

/**
 * Reads the address book. An address in mixed case must have the checksum of EIP-55: a digit that was mistyped would
 * send money to nobody.
 */
export function readAddressBook(files: readonly Tree[]): {
  readonly addressBook: AddressBook
  readonly diagnostics: readonly Diagnostic[]
} {
  const diagnostics: Diagnostic[] = []
  const entries = new Map<string, MapEntry>()
  for (const entry of files.flatMap(entriesOf)) {
    const first = entries.get(entry.key)
    if (first) diagnostics.push(definedTwice(entry.key, first, entry))
    else entries.set(entry.key, entry)
  }
  for (const { value } of entries.values()) {
    const address = textOf(value)
    if (address === undefined || !/^0x[0-9a-fA-F]{40}$/.test(address)) continue
    const expected = `0x${checksummed(address.slice(2).toLowerCase())}`
    const plain = address.toLowerCase() === address || `0x${address.slice(2).toUpperCase()}` === address
    if (plain || address === expected) continue
    diagnostics.push(
      diagnostic('definitions/bad-address', `\`${address}\` does not have the checksum of its digits`, value.span, {
        help: `look it up again; if every digit is right, it is written \`${expected}\``,
      }),
    )
  }
  const addressBook = Object.fromEntries([...entries].map(([name, { value }]) => [name, textOf(value) ?? '']))
  return { addressBook, diagnostics }
}

function entriesOf(file: Tree): readonly MapEntry[] {
  const book = childOf(file, 'addressBook')
  return book?.kind === 'map' ? book.entries : []
}
