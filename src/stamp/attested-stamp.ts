import { sha256 } from '../crypto/index.ts'
import { encodeHex, isHex } from '../encoding/index.ts'
import { refusals } from '../protocol/index.ts'
import { StampError } from './error.ts'

/** What a token of each scheme says of its holder (docs/protocol/stamps.md#attested-stamps). */
export const ATTESTED_SCHEMES = {
  STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN: 'contact',
  STAMP_ATTESTED_SCHEME_P256_OIDC: 'identity',
} as const

/** A stamp by a key that is registered nowhere, with a token about its holder that names the key. */
export interface AttestedStamp {
  readonly kind: 'attested'
  readonly proves: (typeof ATTESTED_SCHEMES)[keyof typeof ATTESTED_SCHEMES]
  /** A JSON Web Token. Nothing of it has been verified. */
  readonly token: string
  /** Lower-case hex, compressed. */
  readonly publicKey: string
  /** Hex of DER, as it was sent. */
  readonly signature: string
}

/** Reads the members of an attested stamp. Throws `StampError`. */
export function parseAttestedStamp({
  members,
}: {
  readonly members: Readonly<Record<string, unknown>>
}): AttestedStamp {
  const { publicKeyAttestation: token, scheme, publicKey, signature } = members
  const proves = ATTESTED_SCHEMES[scheme as keyof typeof ATTESTED_SCHEMES]
  const key = typeof publicKey === 'string' ? publicKey.toLowerCase().replace(/^0x/, '') : ''
  const isSigned = typeof signature === 'string' && signature !== '' && isHex(signature)
  if (!Object.hasOwn(ATTESTED_SCHEMES, String(scheme)) || typeof token !== 'string' || token === '' || !isSigned)
    throw new StampError('malformed', refusals.attestedStampNotRead.message())
  if (!/^0[23][0-9a-f]{64}$/.test(key)) throw new StampError('malformed', refusals.attestedStampNotRead.message())
  return { kind: 'attested', proves, token, publicKey: key, signature }
}

/** The nonce by which an OIDC token is bound to a key: hex of the SHA-256 of the key's hex, as text. */
export function nonceOfKey(publicKey: string): string {
  return encodeHex(sha256(publicKey))
}
