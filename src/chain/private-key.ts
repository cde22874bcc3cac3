import { CryptoError, KEY_CURVES, type KeyCurve, type RandomBytes } from '../crypto/index.ts'
import { decodeHex, encodeHex } from '../encoding/index.ts'
import { type AddressFormat, addressFormatRow, isAddressFormat } from './address-formats.ts'
import type { Curve } from './curves.ts'
import { ChainError } from './error.ts'

/** A key of its own, in no wallet (docs/protocol/keys.md#private-keys). */
export interface StandAloneKey {
  /** 32 bytes. */
  readonly privateKey: Uint8Array
  /** Hex: compressed, or 32 bytes for Ed25519. */
  readonly publicKey: string
}

const KEYS_OF: Readonly<Record<Curve, KeyCurve>> = {
  CURVE_SECP256K1: 'secp256k1',
  CURVE_ED25519: 'ed25519',
  CURVE_P256: 'p256',
}

/** Makes a private key from the given randomness. */
export function createPrivateKey(curve: Curve, randomBytes: RandomBytes): StandAloneKey {
  for (;;) {
    const privateKey = randomBytes(32)
    try {
      return { privateKey, publicKey: KEY_CURVES[KEYS_OF[curve]].publicKeyOf(encodeHex(privateKey)) }
    } catch (error) {
      // A draw outside of the curve's range (FIPS 186-5 A.2.2), once in 2^32 on P-256: draw again.
      if (!(error instanceof CryptoError)) throw error
    }
  }
}

/** Takes 32 bytes as a private key. Throws `ChainError` for another length, and for a number outside of the curve's range. */
export function openPrivateKey(curve: Curve, privateKey: Uint8Array): StandAloneKey {
  if (privateKey.length !== 32) throw new ChainError(`expected a private key of 32 bytes, got ${privateKey.length}`)
  try {
    return { privateKey, publicKey: KEY_CURVES[KEYS_OF[curve]].publicKeyOf(encodeHex(privateKey)) }
  } catch (cause) {
    throw new ChainError('invalid private key', { cause })
  }
}

/** Whether keys of the curve have addresses of this format: the API's literal text if not, else nothing. */
export function checkAddressFormat(curve: Curve, format: string): string | undefined {
  if (!isAddressFormat(format)) return 'invalid address format'
  return addressFormatRow(format).curves.includes(curve) ? undefined : 'invalid address format'
}

/** Writes a public key (hex) as an address. The format must be one of its curve. */
export function addressOf(curve: Curve, publicKey: string, format: AddressFormat): string {
  return addressFormatRow(format).write({ curve, bytes: decodeHex(publicKey) })
}
