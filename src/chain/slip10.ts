/**
 * SLIP-0010 for the curves of ECDSA. On secp256k1 it is BIP-32, but for a number outside of the curve's range, once in 2^127,
 * where BIP-32 gives the child up and SLIP-0010 tries again. Keys of points are computed where a step needs one and at no
 * other, by the platform: that is several times as fast as libraries that compute every node's.
 */
import { createHmac } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { KEY_CURVES } from '../crypto/index.ts'
import { type Bytes, concatBytes, decodeHex, encodeHex, encodeUtf8 } from '../encoding/index.ts'

/** What the standard varies by curve: the key of the first HMAC, and the group's order. */
const CURVES = {
  secp256k1: { seedKey: 'Bitcoin seed', Fn: secp256k1.Point.Fn },
  p256: { seedKey: 'Nist256p1 seed', Fn: p256.Point.Fn },
} as const
export type Slip10Curve = keyof typeof CURVES

const HARDENED = 2 ** 31

/** A private key with the chain code that its children are derived from. */
export interface Slip10Node {
  readonly privateKey: Bytes
  readonly chainCode: Bytes
}

/** "Calculate I = HMAC-SHA512(Key = Curve, Data = S)"; an invalid key repeats it with S := I (SLIP-0010). */
export function masterNode(curve: Slip10Curve, seed: Uint8Array): Slip10Node {
  const { seedKey, Fn } = CURVES[curve]
  let digest = hmacSha512(encodeUtf8(seedKey), seed)
  while (!Fn.isValidNot0(toNumber(digest.subarray(0, 32)))) digest = hmacSha512(encodeUtf8(seedKey), digest)
  const node = { privateKey: digest.slice(0, 32), chainCode: digest.slice(32) }
  digest.fill(0)
  return node
}

/** CKDpriv of SLIP-0010; `child` counts hardened children from 2^31. */
export function childNode(curve: Slip10Curve, parent: Slip10Node, child: number): Slip10Node {
  const { Fn } = CURVES[curve]
  const number = new Uint8Array(4)
  new DataView(number.buffer).setUint32(0, child)
  const start =
    child >= HARDENED ? concatBytes(Uint8Array.of(0), parent.privateKey) : publicKeyOf(curve, parent.privateKey)
  for (let data = concatBytes(start, number); ; ) {
    const digest = hmacSha512(parent.chainCode, data)
    data.fill(0)
    const [left, chainCode] = [toNumber(digest.subarray(0, 32)), digest.slice(32)]
    digest.fill(0)
    if (Fn.isValid(left)) {
      const key = Fn.add(left, toNumber(parent.privateKey))
      if (!Fn.is0(key)) return { privateKey: new Uint8Array(Fn.toBytes(key)), chainCode }
    }
    // "In case parse256(IL) ≥ n or ki = 0 …: let I = HMAC-SHA512(Key = cpar, Data = 0x01 || IR || ser32(i))"
    data = concatBytes(Uint8Array.of(1), chainCode, number)
  }
}

/** The compressed point of a private key. */
export function publicKeyOf(curve: Slip10Curve, privateKey: Uint8Array): Bytes {
  return decodeHex(KEY_CURVES[curve].publicKeyOf(encodeHex(privateKey)))
}

function hmacSha512(key: Uint8Array, data: Uint8Array): Bytes {
  return new Uint8Array(createHmac('sha512', key).update(data).digest())
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${encodeHex(bytes)}`)
}
