/**
 * Which algorithm signs with a key (docs/protocol/signing.md#algorithms): it follows the address that names the key,
 * not the key alone.
 */
import { taprootTweakPrivKey } from '@scure/btc-signer/utils.js'
import { inHalves, type SignatureHalves, signEcdsaDigest, signEd25519, signSchnorrDigest } from '../../crypto/index.ts'
import type { Curve } from '../curves.ts'

/** A key that is not at hand, and the address that it was asked for by. */
export interface KeyByAddress {
  readonly curve: Curve
  /** Compressed, or 32 bytes for Ed25519. */
  readonly publicKey: Uint8Array
  /** None when the key is named by its id. */
  readonly address?: string
  readonly addressFormat?: string
}

/** A private key at hand. Wipe `privateKey` when done. */
export interface KeyAtHand extends KeyByAddress {
  /** 32 bytes. */
  readonly privateKey: Uint8Array
}

/** Schnorr keys are addressed by what is Schnorr's alone; the compressed key of the same account signs by ECDSA. */
function schnorrKeyOf({ addressFormat = '', privateKey }: KeyAtHand): Uint8Array | undefined {
  // BIP-341: the output key of an address without scripts is the key tweaked by itself.
  if (/^ADDRESS_FORMAT_BITCOIN_\w+_P2TR$/.test(addressFormat)) return taprootTweakPrivKey(privateKey)
  if (/^ADDRESS_FORMAT_SPARK_/.test(addressFormat)) return privateKey.slice()
  return undefined
}

/**
 * Signs a digest of 32 bytes with a key of an ECDSA curve: low `s` and the nonce of RFC 6979, or BIP-340 where the key is
 * named by a Taproot or Spark address. An Ed25519 key signs a message of any length.
 */
export function signBytes(key: KeyAtHand, digest: Uint8Array): SignatureHalves {
  switch (key.curve) {
    case 'CURVE_ED25519':
      return inHalves(signEd25519(digest, key.privateKey))
    case 'CURVE_P256':
      return signEcdsaDigest('p256', digest, key.privateKey)
    case 'CURVE_SECP256K1': {
      const schnorrKey = schnorrKeyOf(key)
      if (schnorrKey === undefined) return signEcdsaDigest('secp256k1', digest, key.privateKey)
      try {
        return signSchnorrDigest(digest, schnorrKey)
      } finally {
        schnorrKey.fill(0)
      }
    }
    default:
      return key.curve satisfies never
  }
}
