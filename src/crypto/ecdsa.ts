import { createECDH, createPrivateKey, createPublicKey, ECDH, type KeyObject, sign } from 'node:crypto'
import { decodeHex, encodeBase64Url, isHex, viewHex } from '../encoding/index.ts'
import { strictDerSignature } from './der.ts'
import { CryptoError } from './error.ts'
import { createKeyCache } from './key-cache.ts'
import { verifiersOver } from './platform-check.ts'
import type { CurveOperations } from './signer.ts'

/** A 256-bit curve that the platform knows, by its names. */
export interface EcdsaCurve {
  /** In a JSON Web Key (RFC 7518 §6.2.1.1, RFC 8812 §3.1), and for people. */
  readonly name: 'P-256' | 'secp256k1'
  readonly openssl: 'prime256v1' | 'secp256k1'
}

// A key passed by itself and DER, the default: with options the platform takes half as long again for each signature.

/** ECDSA over SHA-256 on a curve; signatures are DER in hex, their `s` may be high. */
export function ecdsaOver(curve: EcdsaCurve): CurveOperations {
  return {
    generateKeyPair() {
      const ecdh = createECDH(curve.openssl)
      const publicKey = ecdh.generateKeys('hex', 'compressed')
      return { privateKey: ecdh.getPrivateKey('hex').padStart(64, '0'), publicKey }
    },
    publicKeyOf: (privateKeyHex) => openPrivateKey(curve, privateKeyHex).getPublicKey('hex', 'compressed'),
    createSigner(privateKeyHex) {
      const ecdh = openPrivateKey(curve, privateKeyHex)
      const d = encodeBase64Url(decodeHex(privateKeyHex))
      const key = createPrivateKey({ format: 'jwk', key: { ...jwkOf(curve, ecdh.getPublicKey()), d } })
      return {
        publicKey: ecdh.getPublicKey('hex', 'compressed'),
        sign: (body) => sign('sha256', body, key).toString('hex'),
      }
    },
    ...createEcdsaVerifiers(curve),
  }
}

/**
 * Creates verifiers of ECDSA over SHA-256. A high `s` is accepted (WebCrypto, HSMs and passkeys make them) and DER is
 * read as `parseDerSignature` says.
 */
export function createEcdsaVerifiers(
  curve: EcdsaCurve,
  options?: { readonly capacity?: number },
): Pick<CurveOperations, 'verify' | 'verifyInPool'> {
  const keyOf = createKeyCache((hex) => parsePublicKey(curve, hex), options)
  return verifiersOver(({ publicKey, signatureHex }) => {
    if (!isHex(signatureHex)) return undefined
    const signature = strictDerSignature(viewHex(signatureHex))
    const key = signature && keyOf(publicKey.toLowerCase())
    return signature && key && { algorithm: 'sha256', key, signature }
  })
}

function parsePublicKey(curve: EcdsaCurve, hex: string): KeyObject | undefined {
  if (!/^0[23][0-9a-f]{64}$/.test(hex)) return undefined
  try {
    const point = ECDH.convertKey(hex, curve.openssl, 'hex', undefined, 'uncompressed') as Buffer
    return createPublicKey({ format: 'jwk', key: jwkOf(curve, point) })
  } catch {
    return undefined // not a point of the curve
  }
}

function openPrivateKey({ name, openssl }: EcdsaCurve, privateKeyHex: string): ECDH {
  if (!/^[0-9a-fA-F]{64}$/.test(privateKeyHex)) {
    throw new CryptoError(`expected a ${name} private key of 64 hex digits, got ${privateKeyHex.length} characters`)
  }
  const ecdh = createECDH(openssl)
  try {
    ecdh.setPrivateKey(privateKeyHex, 'hex')
  } catch {
    throw new CryptoError(`expected a ${name} private key between 1 and n−1, got a number outside of it`)
  }
  return ecdh
}

/** The public members of a JSON Web Key (RFC 7518 §6.2.1) of an uncompressed point `04 ‖ x ‖ y`. */
function jwkOf({ name }: EcdsaCurve, point: Uint8Array) {
  return { kty: 'EC', crv: name, x: encodeBase64Url(point.subarray(1, 33)), y: encodeBase64Url(point.subarray(33)) }
}
