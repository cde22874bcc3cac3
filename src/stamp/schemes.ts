import {
  createEip191Signer,
  KEY_CURVES,
  type KeyCurve,
  type Signer,
  type Verify,
  type VerifyInPool,
  verifyEip191,
} from '../crypto/index.ts'

/** How stamps of one scheme are made and checked. */
export interface SchemeRow {
  /** The curve that a key must be on to use the scheme. */
  readonly curve: KeyCurve
  /** The form of the public key in lower-case hex. */
  readonly publicKey: RegExp
  /** Checks the signature over the body's bytes. */
  readonly verify: Verify
  /** The same beside the main thread, where the platform can. */
  readonly verifyInPool: VerifyInPool
  /** Opens a private key of 64 hex digits. Throws `CryptoError`. */
  readonly createSigner: (privateKeyHex: string) => Signer
}

const COMPRESSED_POINT = /^0[23][0-9a-f]{64}$/
const ED25519_KEY = /^[0-9a-f]{64}$/

const { p256, secp256k1, ed25519 } = KEY_CURVES

/**
 * The schemes of `X-Stamp` (docs/protocol/stamps.md#api-key-stamps); the first one of a curve is what its keys use
 * unless told.
 */
export const SCHEMES = {
  SIGNATURE_SCHEME_TK_API_P256: {
    curve: 'p256',
    publicKey: COMPRESSED_POINT,
    verify: p256.verify,
    verifyInPool: p256.verifyInPool,
    createSigner: p256.createSigner,
  },
  SIGNATURE_SCHEME_TK_API_SECP256K1: {
    curve: 'secp256k1',
    publicKey: COMPRESSED_POINT,
    verify: secp256k1.verify,
    verifyInPool: secp256k1.verifyInPool,
    createSigner: secp256k1.createSigner,
  },
  SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191: {
    curve: 'secp256k1',
    publicKey: COMPRESSED_POINT,
    verify: verifyEip191,
    verifyInPool: async (claim) => verifyEip191(claim),
    createSigner: createEip191Signer,
  },
  SIGNATURE_SCHEME_TK_API_ED25519: {
    curve: 'ed25519',
    publicKey: ED25519_KEY,
    verify: ed25519.verify,
    verifyInPool: ed25519.verifyInPool,
    createSigner: ed25519.createSigner,
  },
} as const satisfies Record<string, SchemeRow>
export type SignatureScheme = keyof typeof SCHEMES

/** Whether there is such a scheme. */
export function isScheme(name: string): name is SignatureScheme {
  return Object.hasOwn(SCHEMES, name)
}

/** The schemes that a key of the curve can stamp with, the usual one first. */
export function schemesOf(curve: KeyCurve): readonly SignatureScheme[] {
  return Object.keys(SCHEMES)
    .filter(isScheme)
    .filter((name) => SCHEMES[name].curve === curve)
}
