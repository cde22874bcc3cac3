import { isEthereumAddress, misspelledAs } from '../../chain/index.ts'
import { usage } from './usage.ts'

/** Whether this is an Ethereum address. Throws `cli/usage` for one that has not the checksum of its digits (EIP-55). */
export function isAddress(written: string): boolean {
  const expected = misspelledAs(written)
  if (expected !== undefined) {
    throw usage(
      `\`${written}\` does not have the checksum of its digits`,
      `look it up again; if every digit is right, it is written \`${expected}\``,
    )
  }
  return isEthereumAddress(written)
}
