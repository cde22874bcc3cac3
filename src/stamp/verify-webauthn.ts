import { sha256 } from '../crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../encoding/index.ts'
import { type AssertionExpectation, verifyAssertion, type WebAuthnVerdict } from './webauthn-assertion.ts'
import type { WebAuthnStamp } from './webauthn-stamp.ts'

/** The expectations on a passkey stamp: the raw body of the request, and the credential that its id names. */
export type WebAuthnExpectation = Omit<AssertionExpectation, 'challenge'> & { readonly body: Uint8Array }

/**
 * Whether the passkey signed exactly these bytes, or the first fault. Whose passkey it is was looked up before, by
 * `credentialId`. The authenticator was given the 64 lower-case hex digits of SHA-256 of the body, not its 32 bytes
 * (docs/protocol/stamps.md#passkey-stamps).
 */
export function verifyWebAuthnStamp(stamp: WebAuthnStamp, expected: WebAuthnExpectation): WebAuthnVerdict {
  const { body, ...rest } = expected
  return verifyAssertion(stamp, { ...rest, challenge: encodeUtf8(encodeHex(sha256(body))) })
}
