import { ECDH } from 'node:crypto'
import { ecdsaOver } from './ecdsa.ts'

const CURVE = { name: 'secp256k1', openssl: 'secp256k1' } as const

/** ECDSA over SHA-256 on the curve of SEC 2 §2.4.1. */
export const secp256k1 = ecdsaOver(CURVE)

/** Writes a public key of the curve (hex, compressed or not) in its 33 bytes, lower-case hex; nothing if it is none. */
export function compressSecp256k1(publicKeyHex: string): string | undefined {
  if (!/^(?:0[23][0-9a-f]{64}|04[0-9a-f]{128})$/i.test(publicKeyHex)) return undefined
  try {
    return ECDH.convertKey(publicKeyHex, CURVE.openssl, 'hex', 'hex', 'compressed') as string
  } catch {
    return undefined // not a point of the curve
  }
}
