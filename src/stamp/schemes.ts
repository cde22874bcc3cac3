import { type P256Claim, verifyP256 } from '../crypto/index.ts'

/** How stamps of one scheme are checked. */
export interface SchemeRow {
  /** The curve that a credential must have to use the scheme. */
  readonly curve: 'CURVE_P256' | 'CURVE_SECP256K1' | 'CURVE_ED25519'
  /** The form of the public key in lower-case hex. */
  readonly publicKey: RegExp
  /** Checks the signature over the body's bytes; absent where the scheme is known and not verified here. */
  readonly verify?: (claim: P256Claim) => boolean
}

const COMPRESSED_POINT = /^0[23][0-9a-f]{64}$/
const ED25519_KEY = /^[0-9a-f]{64}$/

/** The schemes of `X-Stamp` (facts: protocol §3.1). */
export const SCHEMES = {
  SIGNATURE_SCHEME_TK_API_P256: { curve: 'CURVE_P256', publicKey: COMPRESSED_POINT, verify: verifyP256 },
  SIGNATURE_SCHEME_TK_API_SECP256K1: { curve: 'CURVE_SECP256K1', publicKey: COMPRESSED_POINT },
  SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191: { curve: 'CURVE_SECP256K1', publicKey: COMPRESSED_POINT },
  SIGNATURE_SCHEME_TK_API_ED25519: { curve: 'CURVE_ED25519', publicKey: ED25519_KEY },
} as const satisfies Record<string, SchemeRow>
export type SignatureScheme = keyof typeof SCHEMES

/** The row of a scheme, or none if there is no such scheme. */
export function findScheme(name: string): SchemeRow | undefined {
  return Object.hasOwn(SCHEMES, name) ? SCHEMES[name as SignatureScheme] : undefined
}
