import { misspelledAs, type Namespace, namespaceOfAddress } from '../../chain/index.ts'
import { usage } from './usage.ts'

/**
 * The namespace of chains that this is an address in; undefined for what is none. Throws `cli/usage` for one that has not the
 * checksum of its digits (EIP-55).
 */
export function readAddress(written: string): Namespace | undefined {
  const expected = misspelledAs(written)
  if (expected !== undefined) {
    throw usage(
      `\`${written}\` does not have the checksum of its digits`,
      `look it up again; if every digit is right, it is written \`${expected}\``,
    )
  }
  return namespaceOfAddress(written)
}
