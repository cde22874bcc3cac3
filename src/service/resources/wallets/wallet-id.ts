import { createHash } from 'node:crypto'
import { deriveAccount } from '../../../chain/index.ts'
import { decodeHex, encodeHex } from '../../../encoding/index.ts'

/** The account whose public key stands for the wallet: any would do, as long as it stays the same. */
const NAMING_ACCOUNT = { curve: 'CURVE_SECP256K1', path: "m/0'", addressFormat: 'ADDRESS_FORMAT_COMPRESSED' } as const

/**
 * Derives a wallet's id from its content, so that one mnemonic is one wallet in an organization
 * (docs/protocol/requests.md#identifiers): a UUID of version 5 (RFC 9562 §5.5) with the organization's id as name space
 * and one of the wallet's public keys as name. A public key, and not the mnemonic: an id is public, and must be no way
 * to try mnemonics cheaply.
 */
export function walletIdOf(organizationId: string, mnemonic: string): string {
  const { publicKey } = deriveAccount(mnemonic, NAMING_ACCOUNT)
  const digest = createHash('sha1')
    .update(decodeHex(organizationId.replaceAll('-', '')))
    .update(publicKey)
    .digest()
  const bytes = new Uint8Array(digest.subarray(0, 16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return encodeHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
