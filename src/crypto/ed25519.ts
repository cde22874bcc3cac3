import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { ed25519 as noble } from '@noble/curves/ed25519.js'
import {
  type Bytes,
  concatBytes,
  decodeBase64,
  decodeHex,
  encodeBase64Url,
  encodeHex,
  isHex,
} from '../encoding/index.ts'
import { CryptoError } from './error.ts'
import { createKeyCache } from './key-cache.ts'
import { verifiersOver } from './platform-check.ts'
import type { CurveOperations } from './signer.ts'

/** The bytes of PKCS #8 before the 32 bytes of a private key (RFC 8410 §7). */
const PKCS8_PREFIX = decodeHex('302e020100300506032b657004220420')
const SIGNATURE_LENGTH = 64

/**
 * Ed25519 over the body itself (RFC 8032 §5.1): a private key is its 32-byte seed, a signature 64 bytes. Strict, not
 * ZIP-215: verification is cofactorless, `S` is below the group's order, and public keys that are written in another
 * than the canonical way or are of small order verify nothing.
 */
export const ed25519: CurveOperations = {
  generateKeyPair() {
    const privateKey = randomBytes(32).toString('hex')
    return { privateKey, publicKey: publicKeyOf(openSeed(privateKey)) }
  },
  publicKeyOf: (privateKeyHex) => publicKeyOf(openSeed(privateKeyHex)),
  createSigner(privateKeyHex) {
    const key = openSeed(privateKeyHex)
    return { publicKey: publicKeyOf(key), sign: (body) => sign(null, body, key).toString('hex') }
  },
  ...createVerifiers(),
}

/** Signs once with a seed of 32 bytes, of which no copy is left behind in JavaScript. The signature has 64 bytes. */
export function signEd25519(body: Uint8Array, seed: Uint8Array): Bytes {
  return new Uint8Array(sign(null, body, openSeedBytes(seed)))
}

function createVerifiers(): Pick<CurveOperations, 'verify' | 'verifyInPool'> {
  const keyOf = createKeyCache(parseEd25519PublicKey)
  return verifiersOver(({ publicKey, signatureHex }) => {
    if (!isHex(signatureHex)) return undefined
    const signature = decodeHex(signatureHex)
    const key = signature.length === SIGNATURE_LENGTH ? keyOf(publicKey.toLowerCase()) : undefined
    return key && { algorithm: null, key, signature }
  })
}

/** Parses a public key of 64 lower-case hex digits, or `undefined` if it is none or not safe to verify under. */
export function parseEd25519PublicKey(hex: string): KeyObject | undefined {
  if (!/^[0-9a-f]{64}$/.test(hex)) return undefined
  try {
    // OpenSSL takes any bytes; under a point of small order one signature fits many messages.
    if (noble.Point.fromHex(hex).isSmallOrder()) return undefined
  } catch {
    return undefined
  }
  return createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: encodeBase64Url(decodeHex(hex)) } })
}

function openSeed(privateKeyHex: string): KeyObject {
  if (!/^[0-9a-fA-F]{64}$/.test(privateKeyHex)) {
    throw new CryptoError(`expected an Ed25519 private key of 64 hex digits, got ${privateKeyHex.length} characters`)
  }
  return openSeedBytes(decodeHex(privateKeyHex))
}

function openSeedBytes(seed: Uint8Array): KeyObject {
  const der = Buffer.from(concatBytes(PKCS8_PREFIX, seed).buffer)
  try {
    return createPrivateKey({ format: 'der', type: 'pkcs8', key: der })
  } finally {
    der.fill(0)
  }
}

function publicKeyOf(key: KeyObject): string {
  return encodeHex(decodeBase64(createPublicKey(key).export({ format: 'jwk' }).x!))
}
