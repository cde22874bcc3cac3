import { misspelledAs, type Namespace, namespaceOfAddress } from '../chain/index.ts'
import { usage } from './usage.ts'

/**
 * The namespace of chains that this is an address in; undefined for what is none. Throws `cli/usage` for one that has not the
 * checksum of its digits (EIP-55), and for what can only be meant as one.
 */
export function readAddress(written: string): Namespace | undefined {
  const expected = misspelledAs(written)
  if (expected !== undefined) {
    throw usage(
      `\`${written}\` does not have the checksum of its digits`,
      `look it up again; if every digit is right, it is written \`${expected}\``,
    )
  }
  const namespace = namespaceOfAddress(written)
  const [, hex = written] = /^0x([0-9a-f]*)$/i.exec(written) ?? []
  const [whole] = /^[0-9a-f]{40}$/i.exec(hex) ?? []
  if (namespace !== undefined || (whole === undefined && hex === written)) return namespace
  throw usage(
    `expected an address to be 0x and 40 hex digits, got \`${written}\``,
    whole === undefined ? 'look it up again' : `write it \`0x${whole}\``,
  )
}
