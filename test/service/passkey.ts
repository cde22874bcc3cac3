/** A browser with a passkey: registers it as published clients do, and stamps requests with it. */
import { isoCBOR } from '@simplewebauthn/server/helpers'
import { sha256 } from '../../src/crypto/index.ts'
import { concatBytes, decodeBase64, encodeBase64Url, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { type Algorithm, createCredential, FLAG } from '../stamp/authenticator.ts'
import { fresh } from './handlers/steps.ts'

const ATTESTED = 0x40

/** What a test may have otherwise than a browser would. */
export interface RegistrationOverrides {
  readonly challenge?: string
  /** Members of the client data. */
  readonly client?: Readonly<Record<string, unknown>>
  readonly flags?: number
  readonly format?: string
  readonly aaguid?: Uint8Array
  /** What follows the key. */
  readonly more?: Uint8Array
  /** Members of the attestation. */
  readonly attestation?: Readonly<Record<string, unknown>>
}

export interface Passkey {
  readonly credentialId: string
  /** Base64url of the COSE key. */
  readonly publicKey: string
  /** One entry of `authenticators`, in its latest version. */
  register(overrides?: RegistrationOverrides): {
    readonly authenticatorName: string
    readonly challenge: string
    readonly attestation: Readonly<Record<string, unknown>>
  }
  /** The header that stamps this very text. */
  stamp(text: string, overrides?: Partial<Parameters<ReturnType<typeof createCredential>['assert']>[0]>): string
}

/** A registration as the first versions of activities take it: as the browser gave it. */
export function asBrowserGave(
  { authenticatorName, challenge, attestation }: ReturnType<Passkey['register']>,
  userId: string,
) {
  const { credentialId: id, clientDataJson, attestationObject } = attestation
  const credential = { id, rawId: id, type: 'public-key', clientExtensionResults: {} }
  return {
    ...{ authenticatorName, challenge, userId },
    attestation: { ...credential, response: { clientDataJson, attestationObject } },
  }
}

/** Creates a passkey of a relying party, in an authenticator of its own. */
export function createPasskey(algorithm: Algorithm = 'ES256', relyingParty = 'app.acme.test'): Passkey {
  const credential = createCredential(algorithm, relyingParty)
  const id = decodeBase64(credential.credentialId)
  return {
    credentialId: credential.credentialId,
    publicKey: encodeBase64Url(credential.publicKeyCose),
    register(overrides = {}) {
      const { flags = FLAG.userPresent | ATTESTED, format = 'none', aaguid = new Uint8Array(16) } = overrides
      const { challenge = encodeBase64Url(encodeUtf8(fresh('challenge'))), more = new Uint8Array() } = overrides
      const members = { type: 'webauthn.create', challenge, origin: `https://${relyingParty}`, crossOrigin: false }
      const authData = concatBytes(
        ...[credential.rpIdHash, Uint8Array.of(flags), new Uint8Array(4)],
        ...(flags & ATTESTED ? [aaguid, Uint8Array.of(0, id.length), id, credential.publicKeyCose, more] : []),
      )
      const object = new Map<string, string | Uint8Array<ArrayBuffer> | Map<string, string>>()
      object.set('fmt', format).set('attStmt', new Map()).set('authData', authData)
      return {
        authenticatorName: fresh('passkey'),
        challenge,
        attestation: {
          credentialId: credential.credentialId,
          clientDataJson: encodeBase64Url(encodeUtf8(JSON.stringify({ ...members, ...overrides.client }))),
          attestationObject: encodeBase64Url(isoCBOR.encode(object)),
          transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL', 'AUTHENTICATOR_TRANSPORT_HYBRID'],
          ...overrides.attestation,
        },
      }
    },
    stamp(text, overrides = {}) {
      const challenge = encodeUtf8(encodeHex(sha256(encodeUtf8(text))))
      const { authenticatorData, clientDataJson, signature } = credential.assert({ challenge, ...overrides })
      return JSON.stringify({
        credentialId: credential.credentialId,
        authenticatorData: encodeBase64Url(authenticatorData),
        clientDataJson: encodeBase64Url(clientDataJson),
        signature: encodeBase64Url(signature),
      })
    },
  }
}
