/**
 * SLIP-0010 for NIST P-256: BIP-32 with another master secret and another order, and retries where BIP-32 gives up.
 * The installed libraries have it for secp256k1 and Ed25519 alone.
 */
import { createHmac } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { p256PublicKey } from '../crypto/index.ts'
import { concatBytes, decodeHex, encodeHex, encodeUtf8 } from '../encoding/index.ts'

const { Fn } = p256.Point
const HARDENED = 2 ** 31

/** A private key with the chain code that its children are derived from. */
export interface P256Node {
  readonly privateKey: Uint8Array
  readonly chainCode: Uint8Array
}

/** "Calculate I = HMAC-SHA512(Key = Curve, Data = S)"; an invalid key repeats it with S := I (SLIP-0010). */
export function p256Master(seed: Uint8Array): P256Node {
  let digest = hmacSha512(encodeUtf8('Nist256p1 seed'), seed)
  while (!Fn.isValidNot0(toNumber(digest.subarray(0, 32)))) digest = hmacSha512(encodeUtf8('Nist256p1 seed'), digest)
  return { privateKey: digest.subarray(0, 32), chainCode: digest.subarray(32) }
}

/** CKDpriv of SLIP-0010; `child` counts hardened children from 2^31. */
export function p256Child(parent: P256Node, child: number): P256Node {
  const number = new Uint8Array(4)
  new DataView(number.buffer).setUint32(0, child)
  const point = decodeHex(p256PublicKey(encodeHex(parent.privateKey)))
  const start = child >= HARDENED ? concatBytes(Uint8Array.of(0), parent.privateKey) : point
  for (let data = concatBytes(start, number); ; ) {
    const digest = hmacSha512(parent.chainCode, data)
    const [left, chainCode] = [toNumber(digest.subarray(0, 32)), digest.subarray(32)]
    if (Fn.isValid(left)) {
      const key = Fn.add(left, toNumber(parent.privateKey))
      if (!Fn.is0(key)) return { privateKey: Fn.toBytes(key), chainCode }
    }
    // "In case parse256(IL) ≥ n or ki = 0 …: let I = HMAC-SHA512(Key = cpar, Data = 0x01 || IR || ser32(i))"
    data = concatBytes(Uint8Array.of(1), chainCode, number)
  }
}

function hmacSha512(key: Uint8Array, data: Uint8Array): Uint8Array {
  return new Uint8Array(createHmac('sha512', key).update(data).digest())
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${encodeHex(bytes)}`)
}
