/**
 * Reads what a browser says of a new passkey (WebAuthn Level 3 §7.1, from step 7 on;
 * docs/protocol/organizations.md#passkey-registration). Unstated: which statements are believed. Every format is taken
 * and its statement is not verified: who made an authenticator decides nothing here. The relying party's id is whatever
 * the passkey was made for; it is kept and asked for again.
 */
import { type Cbor, parseCoseKey, readCbor } from '../../crypto/index.ts'
import { decodeBase64, decodeUtf8, encodeBase64Url, encodeUtf8, equalBytes } from '../../encoding/index.ts'
import { parseAuthenticatorData } from '../../stamp/index.ts'

/** The algorithms that a passkey may be registered with (docs/protocol/organizations.md#passkey-registration). */
const ALGORITHMS: readonly string[] = ['ES256', 'RS256']

/** The offset of the attested credential in authenticator data, and the lengths of its parts (WebAuthn §6.5.1). */
const ATTESTED = { start: 37, aaguid: 16, idLength: 2, longestId: 1023 }
const FLAGS = { attested: 0x40, extensions: 0x80 }

/** A registration as clients send it; what is base64 may be so in either alphabet. */
export interface RegistrationParams {
  readonly challenge: string
  readonly credentialId: string
  readonly clientDataJson: string
  readonly attestationObject: string
}

/** The stored part of a registration; bytes are base64url without padding. */
export interface Registration {
  readonly credentialId: string
  /** The COSE key as the authenticator wrote it. */
  readonly publicKey: string
  readonly attestationType: string
  readonly aaguid: string
  readonly rpIdHash: string
  readonly backupEligible: boolean
  readonly signCount: number
}

/** Registrations of one request. */
export interface RegistrationsToRead {
  readonly registrations: readonly RegistrationParams[]
  /** Exact origins. @default any */
  readonly allowedOrigins?: readonly string[] | undefined
}

/** What they say, in their order, or the name of the refusal of the first that cannot be taken. */
export type RegistrationsRead =
  | { readonly registrations: readonly Registration[] }
  | { readonly refusal: NotRegistered['refusal'] }

/** An attestation that cannot be taken. */
class NotRegistered extends Error {
  readonly refusal: 'invalidAttestation' | 'missingAttestationData'

  constructor(refusal: NotRegistered['refusal']) {
    super(refusal)
    this.refusal = refusal
  }
}

/** Verifies registrations. */
export function readRegistrations(
  _: Uint8Array,
  { registrations, allowedOrigins }: RegistrationsToRead,
): RegistrationsRead {
  try {
    return { registrations: registrations.map((params) => readRegistration(params, allowedOrigins)) }
  } catch (error) {
    if (error instanceof NotRegistered) return { refusal: error.refusal }
    throw error
  }
}

function readRegistration(params: RegistrationParams, allowedOrigins: readonly string[] | undefined): Registration {
  checkClientData(params, allowedOrigins)
  const { format, authData } = readAttestationObject(params.attestationObject)
  const head = parseAuthenticatorData(authData)
  if (!head?.userPresent || (head.backedUp && !head.backupEligible)) throw new NotRegistered('invalidAttestation')
  const { aaguid, credentialId, publicKey } = readAttestedCredential(authData)
  if (!equalBytes(credentialId, decode(params.credentialId))) throw new NotRegistered('invalidAttestation')
  if (!ALGORITHMS.includes(parseCoseKey(publicKey)?.algorithm ?? '')) throw new NotRegistered('invalidAttestation')
  return {
    credentialId: encodeBase64Url(credentialId),
    publicKey: encodeBase64Url(publicKey),
    attestationType: format,
    aaguid: encodeBase64Url(aaguid),
    rpIdHash: encodeBase64Url(head.rpIdHash),
    backupEligible: head.backupEligible,
    signCount: head.signCount,
  }
}

function checkClientData(params: RegistrationParams, allowedOrigins: readonly string[] | undefined): void {
  const { type, challenge, origin } = readClientData(params.clientDataJson)
  const allowed = typeof origin === 'string' && (allowedOrigins === undefined || allowedOrigins.includes(origin))
  if (type !== 'webauthn.create' || !allowed || !isChallenge(challenge, params.challenge)) {
    throw new NotRegistered('invalidAttestation')
  }
}

/**
 * Web clients send the challenge in base64url, mobile ones as the text whose bytes were the challenge
 * (docs/protocol/organizations.md#passkey-registration).
 */
function isChallenge(signed: unknown, sent: string): boolean {
  if (typeof signed !== 'string') return false
  const bytes = decode(signed)
  const decoded = tryDecode(sent)
  return equalBytes(bytes, encodeUtf8(sent)) || (decoded !== undefined && equalBytes(bytes, decoded))
}

function readClientData(base64: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(decodeUtf8(decode(base64)))
    if (typeof json === 'object' && json !== null) return json as Record<string, unknown>
  } catch {
    // Said below.
  }
  throw new NotRegistered('invalidAttestation')
}

function readAttestationObject(base64: string): { readonly format: string; readonly authData: Uint8Array } {
  const object = readItem(decode(base64), 0)
  if (!(object.value instanceof Map)) throw new NotRegistered('invalidAttestation')
  const members: ReadonlyMap<unknown, Cbor> = object.value
  const [format, authData] = [members.get('fmt'), members.get('authData')]
  if (authData === undefined) throw new NotRegistered('missingAttestationData')
  if (typeof format !== 'string' || !(authData instanceof Uint8Array)) throw new NotRegistered('invalidAttestation')
  return { format, authData }
}

/** Reads the attested credential, which must be there, and makes sure that nothing unannounced follows it. */
function readAttestedCredential(authData: Uint8Array) {
  const flags = authData[32]!
  const idStart = ATTESTED.start + ATTESTED.aaguid + ATTESTED.idLength
  if (!(flags & FLAGS.attested) || authData.length < idStart) throw new NotRegistered('invalidAttestation')
  const idLength = new DataView(authData.buffer, authData.byteOffset).getUint16(idStart - ATTESTED.idLength)
  const keyStart = idStart + idLength
  if (idLength === 0 || idLength > ATTESTED.longestId) throw new NotRegistered('invalidAttestation')
  const { end: keyEnd } = readItem(authData, keyStart, 'more')
  const end = flags & FLAGS.extensions ? readItem(authData, keyEnd, 'more').end : keyEnd
  if (end !== authData.length) throw new NotRegistered('invalidAttestation')
  return {
    aaguid: authData.slice(ATTESTED.start, ATTESTED.start + ATTESTED.aaguid),
    credentialId: authData.slice(idStart, keyStart),
    publicKey: authData.slice(keyStart, keyEnd),
  }
}

function readItem(bytes: Uint8Array, start: number, after: 'nothing' | 'more' = 'nothing') {
  try {
    const item = readCbor(bytes, start)
    if (after === 'more' || item.end === bytes.length) return item
  } catch {
    // Said below: what the decoder found is of no use to who sent it.
  }
  throw new NotRegistered('invalidAttestation')
}

function decode(base64: string): Uint8Array {
  const bytes = tryDecode(base64)
  if (!bytes) throw new NotRegistered('invalidAttestation')
  return bytes
}

function tryDecode(base64: string): Uint8Array | undefined {
  try {
    return decodeBase64(base64)
  } catch {
    return undefined
  }
}
