import { createECDH, createPrivateKey, createPublicKey, ECDH, type KeyObject, sign, verify } from 'node:crypto'
import { decodeHex, encodeBase64Url, isHex } from '../encoding/index.ts'
import { parseDerSignature } from './der.ts'
import { CryptoError } from './error.ts'

/** Both halves of a P-256 key: the scalar (64 hex digits) and the compressed point (66 hex digits), lower case. */
export interface P256KeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

/** Signs with one P-256 key. */
export interface P256Signer {
  /** Lower-case hex of the compressed point. */
  readonly publicKey: string
  /** Signs SHA-256 of the body; the signature is DER in hex, its `s` may be high. */
  sign(body: Uint8Array): string
}

/** What one signature check needs. */
export interface P256Claim {
  /** Hex of the compressed point, in either case. */
  readonly publicKey: string
  readonly body: Uint8Array
  readonly signatureDerHex: string
}

const CURVE = 'prime256v1'

/** Makes a P-256 key pair from the platform's randomness. */
export function generateP256KeyPair(): P256KeyPair {
  const ecdh = createECDH(CURVE)
  const publicKey = ecdh.generateKeys('hex', 'compressed')
  return { privateKey: ecdh.getPrivateKey('hex').padStart(64, '0'), publicKey }
}

/** Computes the compressed public key of a private one. Throws `CryptoError` if it is no scalar in [1, n−1]. */
export function p256PublicKey(privateKeyHex: string): string {
  return openPrivateKey(privateKeyHex).getPublicKey('hex', 'compressed')
}

/**
 * Creates a signer that keeps its parsed key: `node:crypto` then signs an order of magnitude faster than code in
 * JavaScript. Throws `CryptoError` if the private key is none.
 */
export function createP256Signer(privateKeyHex: string): P256Signer {
  const ecdh = openPrivateKey(privateKeyHex)
  const d = encodeBase64Url(decodeHex(privateKeyHex))
  const key = createPrivateKey({ format: 'jwk', key: { ...jwkOf(ecdh.getPublicKey()), d } })
  return {
    publicKey: ecdh.getPublicKey('hex', 'compressed'),
    sign: (body) => sign('sha256', body, { key, dsaEncoding: 'der' }).toString('hex'),
  }
}

/**
 * Creates a verifier that keeps the parsed form of the keys used last; parsing costs more than verifying.
 * @default capacity 4096 keys, about 4 MB
 */
export function createP256Verifier({
  capacity = 4096,
}: {
  readonly capacity?: number
} = {}): (claim: P256Claim) => boolean {
  // A `Map` keeps its order of insertion: the first is the one not used for longest.
  const keys = new Map<string, KeyObject>()
  return ({ publicKey, body, signatureDerHex }) => {
    if (!isHex(signatureDerHex)) return false
    const signature = parseDerSignature(decodeHex(signatureDerHex))
    if (!signature) return false
    const name = publicKey.toLowerCase()
    const key = keys.get(name) ?? parsePublicKey(name)
    if (!key) return false
    keys.delete(name)
    keys.set(name, key)
    if (keys.size > capacity) keys.delete(keys.keys().next().value!)
    return verify('sha256', body, { key, dsaEncoding: 'ieee-p1363' }, signature)
  }
}

/**
 * Verifies an ECDSA P-256 signature over SHA-256 of the body. A high `s` is accepted (WebCrypto, HSMs and passkeys make
 * them) and DER is read as `parseDerSignature` says; a malformed key or signature is `false`, never an error.
 * The one instance of a pure function's memo: nothing that it keeps can be observed.
 */
export const verifyP256: (claim: P256Claim) => boolean = createP256Verifier()

function parsePublicKey(hex: string): KeyObject | undefined {
  if (!/^0[23][0-9a-f]{64}$/.test(hex)) return undefined
  try {
    const point = ECDH.convertKey(hex, CURVE, 'hex', undefined, 'uncompressed') as Buffer
    return createPublicKey({ format: 'jwk', key: jwkOf(point) })
  } catch {
    return undefined // not a point of the curve
  }
}

function openPrivateKey(privateKeyHex: string): ECDH {
  if (!/^[0-9a-fA-F]{64}$/.test(privateKeyHex)) {
    throw new CryptoError(`expected a P-256 private key of 64 hex digits, got ${privateKeyHex.length} characters`)
  }
  const ecdh = createECDH(CURVE)
  try {
    ecdh.setPrivateKey(privateKeyHex, 'hex')
  } catch {
    throw new CryptoError('expected a P-256 private key between 1 and n−1, got a number outside of it')
  }
  return ecdh
}

/** The public members of a JSON Web Key (RFC 7518 §6.2.1) of an uncompressed point `04 ‖ x ‖ y`. */
function jwkOf(point: Uint8Array) {
  return {
    kty: 'EC',
    crv: 'P-256',
    x: encodeBase64Url(point.subarray(1, 33)),
    y: encodeBase64Url(point.subarray(33)),
  }
}
