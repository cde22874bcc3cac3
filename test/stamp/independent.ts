/** Verifies stamps with other code than made them: noble for what the platform signs, the platform for what noble does. */
import { createECDH } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { hashMessage } from 'viem'
import { decodeHex, encodeHex } from '../../src/encoding/index.ts'
import type { SignatureScheme, Stamp } from '../../src/stamp/index.ts'

type Verify = (stamp: Pick<Stamp, 'publicKey' | 'signature'>, body: Uint8Array) => boolean

const DER = { format: 'der', lowS: false } as const

export const INDEPENDENT: Readonly<Record<SignatureScheme, Verify>> = {
  SIGNATURE_SCHEME_TK_API_P256: ({ publicKey, signature }, body) =>
    p256.verify(decodeHex(signature), body, decodeHex(publicKey), DER),
  SIGNATURE_SCHEME_TK_API_SECP256K1: ({ publicKey, signature }, body) =>
    secp256k1.verify(decodeHex(signature), body, decodeHex(publicKey), DER),
  SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191: ({ publicKey, signature }, body) =>
    verifyDigest(publicKey, signature, hashMessage({ raw: body })),
  SIGNATURE_SCHEME_TK_API_ED25519: ({ publicKey, signature }, body) =>
    ed25519.verify(decodeHex(signature), body, decodeHex(publicKey), { zip215: false }),
}

// secp256k1 (SEC 2 §2.4.1): y² = x³ + 7 over the field of p.
const P = 2n ** 256n - 2n ** 32n - 977n
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/**
 * ECDSA verification by its definition (SEC 1 §4.1.4): the platform multiplies the points, the one addition is done
 * here. The platform tells only the x of u₂·Q, so both of its y are tried.
 */
function verifyDigest(publicKey: string, signatureDerHex: string, digestHex: string): boolean {
  const [r, s] = readDer(decodeHex(signatureDerHex))
  const w = power(s, N - 2n, N)
  const u1 = modulo(BigInt(digestHex) * w, N)
  const u2 = modulo(r * w, N)
  const own = createECDH('secp256k1')
  own.setPrivateKey(scalar(u1))
  const point = encodeHex(own.getPublicKey())
  const [x1, y1] = [BigInt(`0x${point.slice(2, 66)}`), BigInt(`0x${point.slice(66)}`)]
  own.setPrivateKey(scalar(u2))
  const x2 = BigInt(`0x${own.computeSecret(publicKey, 'hex', 'hex')}`)
  const y2 = power(x2 ** 3n + 7n, (P + 1n) / 4n, P)
  return [y2, P - y2].some((y) => {
    const slope = modulo((y - y1) * power(x2 - x1, P - 2n, P), P)
    return modulo(modulo(slope ** 2n - x1 - x2, P), N) === r
  })
}

/** The two integers of a DER signature that is known to be well formed. */
export function readDer(der: Uint8Array): [bigint, bigint] {
  const rLength = der[3]!
  const integer = (start: number, length: number) => BigInt(`0x${encodeHex(der.subarray(start, start + length))}`)
  return [integer(4, rLength), integer(6 + rLength, der[5 + rLength]!)]
}

function scalar(value: bigint): Uint8Array {
  return decodeHex(value.toString(16).padStart(64, '0'))
}

function modulo(value: bigint, modulus: bigint): bigint {
  return ((value % modulus) + modulus) % modulus
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n
  for (let b = modulo(base, modulus), e = exponent; e > 0n; e >>= 1n, b = (b * b) % modulus) {
    if (e & 1n) result = (result * b) % modulus
  }
  return result
}
