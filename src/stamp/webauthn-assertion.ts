/**
 * Verifies an assertion (WebAuthn Level 3 §7.2, from step 11 on). The steps that a ceremony with a user's session would
 * take before are the service's: it finds the credential by its id. Asked as the protocol asks
 * (docs/protocol/stamps.md#passkey-stamps): the user must be present and need not be verified, the counter is told and
 * never refused, and origins count only where an organization lists them.
 */
import { parseCoseKey, sha256 } from '../crypto/index.ts'
import { concatBytes, decodeUtf8, encodeBase64Url, equalBytes } from '../encoding/index.ts'
import { type AuthenticatorData, parseAuthenticatorData } from './authenticator-data.ts'
import type { WebAuthnStamp } from './webauthn-stamp.ts'

/** The expectations on an assertion. */
export interface AssertionExpectation {
  /** The very bytes that the authenticator was given. */
  readonly challenge: Uint8Array
  /** The stored COSE key. */
  readonly publicKeyCose: Uint8Array
  /** Exact origins, mobile ones such as `android:apk-key-hash:…` included. @default any */
  readonly allowedOrigins?: readonly string[] | undefined
  /** As it was at registration. @default any */
  readonly rpIdHash?: Uint8Array | undefined
  /** As it was at registration. @default any */
  readonly backupEligible?: boolean | undefined
}

/** The assertion's two parts, read. */
interface Parts {
  readonly client: Readonly<Record<string, unknown>>
  readonly data: AuthenticatorData
}

type Check = (parts: Parts, expected: AssertionExpectation) => boolean

/** The steps that need nothing but the parts, in the order of the standard; the signature comes after them. */
const CHECKS = {
  type: ({ client }) => client['type'] === 'webauthn.get',
  challenge: ({ client }, { challenge }) => client['challenge'] === encodeBase64Url(challenge),
  origin: ({ client }, { allowedOrigins }) => isListed(client['origin'], allowedOrigins),
  // Unstated: inside a frame of another site the outer page counts as well, where the client tells it; not all do.
  'top-origin': ({ client }, { allowedOrigins }) =>
    client['topOrigin'] === undefined ||
    (client['crossOrigin'] === true && isListed(client['topOrigin'], allowedOrigins)),
  'rp-id': ({ data }, { rpIdHash }) => rpIdHash === undefined || equalBytes(data.rpIdHash, rpIdHash),
  'user-present': ({ data }) => data.userPresent,
  'backup-state': ({ data }) => data.backupEligible || !data.backedUp,
  'backup-eligible': ({ data }, { backupEligible = data.backupEligible }) => data.backupEligible === backupEligible,
} as const satisfies Record<string, Check>

/** Why an assertion was not taken: a part that cannot be read, a check that failed, or the signature. */
export type WebAuthnFault = 'client-data' | 'authenticator-data' | 'public-key' | keyof typeof CHECKS | 'signature'

export type WebAuthnVerdict =
  | {
      readonly verified: true
      /** To be stored; it refuses nothing. */
      readonly signCount: number
      readonly userVerified: boolean
      readonly backedUp: boolean
    }
  | { readonly verified: false; readonly fault: WebAuthnFault }

/** Whether the assertion is the key's over exactly this challenge, or the first fault. Never throws. */
export function verifyAssertion(
  assertion: Pick<WebAuthnStamp, 'authenticatorData' | 'clientDataJson' | 'signature'>,
  expected: AssertionExpectation,
): WebAuthnVerdict {
  const client = parseClientData(assertion.clientDataJson)
  if (!client) return refused('client-data')
  const data = parseAuthenticatorData(assertion.authenticatorData)
  if (!data) return refused('authenticator-data')
  const key = parseCoseKey(expected.publicKeyCose)
  if (!key) return refused('public-key')
  for (const [fault, holds] of Object.entries(CHECKS) as [keyof typeof CHECKS, Check][]) {
    if (!holds({ client, data }, expected)) return refused(fault)
  }
  const signed = concatBytes(assertion.authenticatorData, sha256(assertion.clientDataJson))
  if (!key.verify(signed, assertion.signature)) return refused('signature')
  return { verified: true, signCount: data.signCount, userVerified: data.userVerified, backedUp: data.backedUp }
}

/** Reads client data; members it does not know are of no matter (WebAuthn §5.8.1). */
function parseClientData(bytes: Uint8Array): Parts['client'] | undefined {
  try {
    const json: unknown = JSON.parse(decodeUtf8(bytes))
    const isObject = typeof json === 'object' && json !== null && !Array.isArray(json)
    return isObject ? (json as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function isListed(origin: unknown, allowed: readonly string[] | undefined): boolean {
  return typeof origin === 'string' && (allowed === undefined || allowed.includes(origin))
}

function refused(fault: WebAuthnFault): WebAuthnVerdict {
  return { verified: false, fault }
}
