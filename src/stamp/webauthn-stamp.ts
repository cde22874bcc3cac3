import { type Bytes, decodeBase64, encodeBase64Url } from '../encoding/index.ts'
import { refusals } from '../protocol/index.ts'
import { StampError } from './error.ts'

/** A passkey's stamp as read from a request (docs/protocol/stamps.md#passkey-stamps): an assertion over the body. */
export interface WebAuthnStamp {
  readonly kind: 'webauthn'
  /** Base64url without padding, however it was sent; what the credential is found by. */
  readonly credentialId: string
  readonly authenticatorData: Bytes
  /** The very bytes that the signature covers by their hash. */
  readonly clientDataJson: Bytes
  readonly signature: Bytes
  /** The stamp's JSON as it was sent: a vote keeps it so (docs/protocol/stamps.md#what-a-vote-keeps). */
  readonly text: string
}

/** Reads the members of a passkey stamp: base64 in either alphabet. Throws `StampError`. */
export function parseWebAuthnStamp(stamp: {
  readonly text: string
  readonly members: Readonly<Record<string, unknown>>
}): WebAuthnStamp {
  const read = (name: string) => decodeMember(stamp.members[name])
  return {
    kind: 'webauthn',
    credentialId: encodeBase64Url(read('credentialId')),
    authenticatorData: read('authenticatorData'),
    clientDataJson: read('clientDataJson'),
    signature: read('signature'),
    text: stamp.text,
  }
}

function decodeMember(value: unknown): Bytes {
  try {
    if (typeof value === 'string' && value !== '') return decodeBase64(value)
  } catch {
    // Said below, without repeating it.
  }
  throw new StampError('malformed', refusals.webauthnStampNotRead.message())
}
