import { misspelledAs, namespaceOfAddress } from '../chain/index.ts'
import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { addressFault } from './address-fault.ts'
import { checkName } from './names.ts'
import { definedTwice } from './organization.ts'
import { childOf, type MapEntry, type Tree, textOf } from './tree.ts'

/** Stands before the name of a wallet of the organization where a receiver is named: `wallet.treasury`. */
export const OWN_WALLET = 'wallet.'

/** Names of receivers and their addresses on Ethereum or Solana, from every file's `addressBook`. */
export type AddressBook = Readonly<Record<string, string>>

/** Reads the address book. */
export function readAddressBook(files: readonly Tree[]): {
  readonly addressBook: AddressBook
  readonly entries: readonly MapEntry[]
  readonly diagnostics: readonly Diagnostic[]
} {
  const { entries, diagnostics } = gatherEntries(files, 'addressBook')
  const wrong = entries.flatMap((entry) => [...checkReceiver(entry), ...checkAddress(entry.value)])
  const addressBook = Object.fromEntries(entries.map(({ key, value }) => [key, textOf(value) ?? '']))
  return { addressBook, entries, diagnostics: [...diagnostics, ...wrong] }
}

/** A name that means something else where a receiver is named would be paid in its place. */
function checkReceiver({ key, keySpan }: MapEntry): readonly Diagnostic[] {
  const isAddress = namespaceOfAddress(key) !== undefined || misspelledAs(key) !== undefined
  if (!isAddress && !key.startsWith(OWN_WALLET)) return []
  const what = isAddress ? 'an address' : `a name, got \`${key}\`, which is how a wallet of the organization is paid`
  const message = isAddress ? `expected the name of a receiver, got ${what}` : `expected ${what}`
  return [diagnostic('definitions/bad-name', message, keySpan, { help: 'name who is paid' })]
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
  // Base58 is meant for Solana; what is of neither shape the schema has refused.
  const isBase58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address)
  const fault = addressFault(isBase58 ? 'solana' : 'ethereum', address)
  return fault ? [diagnostic('definitions/bad-address', fault.message, value.span, { help: fault.help })] : []
}

function entriesOf(file: Tree, section: string): readonly MapEntry[] {
  const map = childOf(file, section)
  return map?.kind === 'map' ? map.entries : []
}
