import { ed25519 } from '@noble/curves/ed25519.js'
import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { Wire } from '../../protocol/index.ts'

export interface PublicKeyToCheck {
  /** Lower-case hex. */
  readonly publicKey: string
  readonly curve: Wire.ApiKeyCurve
}

/** Whether the hex is a public key; the curve's library throws for what is no point of it. */
const CHECKS: Readonly<Record<Wire.ApiKeyCurve, (hex: string) => boolean>> = {
  API_KEY_CURVE_P256: (hex) => hex.length === 66 && Boolean(p256.Point.fromHex(hex)),
  API_KEY_CURVE_SECP256K1: (hex) => hex.length === 66 && Boolean(secp256k1.Point.fromHex(hex)),
  // Under a key of small order a signature can be found that fits many messages.
  API_KEY_CURVE_ED25519: (hex) => hex.length === 64 && !ed25519.Point.fromHex(hex).isSmallOrder(),
}

/** Says whether all of them are public keys of their curves. */
export function checkPublicKeys(_: Uint8Array, keys: readonly PublicKeyToCheck[]): { readonly areKeys: boolean } {
  try {
    return { areKeys: keys.every(({ publicKey, curve }) => CHECKS[curve](publicKey)) }
  } catch {
    return { areKeys: false }
  }
}
