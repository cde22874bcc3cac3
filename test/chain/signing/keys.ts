import { addressOf, type KeyAtHand } from '../../../src/chain/index.ts'
import { KEY_CURVES } from '../../../src/crypto/index.ts'
import { decodeHex, encodeHex } from '../../../src/encoding/index.ts'

/** The key of the example in EIP-155. */
export const SECRET = '46'.repeat(32)

export const secp256k1Key: KeyAtHand = {
  curve: 'CURVE_SECP256K1',
  privateKey: decodeHex(SECRET),
  publicKey: decodeHex(KEY_CURVES.secp256k1.publicKeyOf(SECRET)),
}

export const ethereumAddress = addressOf(
  'CURVE_SECP256K1',
  encodeHex(secp256k1Key.publicKey),
  'ADDRESS_FORMAT_ETHEREUM',
)
