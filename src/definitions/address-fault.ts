import { isSolanaAddress, isTronAddress, misspelledAs } from '../chain/index.ts'
import type { AddressChain, AddressFault } from '../policy/index.ts'

const AGAIN = 'look it up again'

/**
 * Says what is wrong with an address: on Ethereum, one of 40 digits in mixed case has the checksum of EIP-55; on Solana it is of 32
 * bytes in base58; on Tron it has the checksum of base58check. Undefined where nothing is.
 */
export function addressFault(chain: AddressChain, text: string): AddressFault | undefined {
  switch (chain) {
    case 'ethereum': {
      const expected = misspelledAs(text)
      const help = `${AGAIN}; if every digit is right, it is written \`${expected}\``
      return expected === undefined
        ? undefined
        : { message: `\`${text}\` does not have the checksum of its digits`, help }
    }
    case 'solana':
      if (isSolanaAddress(text)) return undefined
      return { message: `\`${text}\` is no address on Solana: it is not of 32 bytes`, help: AGAIN }
    case 'tron':
      if (isTronAddress(text)) return undefined
      return { message: `\`${text}\` is no address on Tron, or does not have the checksum of its digits`, help: AGAIN }
    default:
      return chain satisfies never
  }
}
