import { secp256k1 as noble } from '@noble/curves/secp256k1.js'
import { type Bytes, concatBytes, decodeHex, encodeHex, encodeUtf8, isHex } from '../encoding/index.ts'
import { parseDerSignature } from './der.ts'
import { keccak256 } from './hash.ts'
import { secp256k1 } from './secp256k1.ts'
import type { Signer, Verify } from './signer.ts'

// The platform signs and verifies only what it has hashed itself, and it has no Keccak-256; hence noble.

/**
 * The digest of a personal message (EIP-191, version `E`): Keccak-256 of `0x19`, a fixed text, the body's length in
 * bytes as decimal, and the body.
 */
export function eip191Digest(body: Uint8Array): Bytes {
  return keccak256(concatBytes(encodeUtf8(`\x19Ethereum Signed Message:\n${body.length}`), body))
}

/** Creates a signer of personal messages; the signature is DER of (r, s) without the recovery byte, in hex. */
export function createEip191Signer(privateKeyHex: string): Signer {
  const publicKey = secp256k1.publicKeyOf(privateKeyHex)
  const key = decodeHex(privateKeyHex)
  return {
    publicKey,
    sign: (body) => encodeHex(noble.sign(eip191Digest(body), key, { prehash: false, format: 'der' })),
  }
}

/** Verifies the signature of a personal message under a compressed point, high `s` and redundant zeros included. */
export const verifyEip191: Verify = ({ publicKey, body, signatureHex }) => {
  if (!isHex(signatureHex) || !/^0[23][0-9a-fA-F]{64}$/.test(publicKey)) return false
  const signature = parseDerSignature(decodeHex(signatureHex))
  if (!signature) return false
  try {
    return noble.verify(signature, eip191Digest(body), decodeHex(publicKey), { prehash: false, lowS: false })
  } catch {
    return false // not a point of the curve
  }
}
