/** A virtual authenticator: makes credentials and assertions as a passkey would, with the platform's keys. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import { randomBytes, sha256 } from '../../src/crypto/index.ts'
import { concatBytes, decodeBase64, encodeBase64Url, encodeUtf8 } from '../../src/encoding/index.ts'

export type Algorithm = 'ES256' | 'RS256' | 'EdDSA'

/** The flags of authenticator data (WebAuthn §6.1). */
export const FLAG = { userPresent: 0x01, userVerified: 0x04, backupEligible: 0x08, backedUp: 0x10, extensions: 0x80 }

export interface Credential {
  readonly credentialId: string
  readonly publicKeyCose: Uint8Array
  readonly rpIdHash: Uint8Array
  /** Answers a request to stamp; what is not said is as a browser would have it. */
  assert(request: {
    readonly challenge: Uint8Array
    readonly origin?: string
    readonly flags?: number
    readonly signCount?: number
    readonly rpId?: string
    /** Replaces or adds members of the client data. */
    readonly client?: Readonly<Record<string, unknown>>
    /** What follows the counter. */
    readonly more?: Uint8Array
  }): { readonly authenticatorData: Uint8Array; readonly clientDataJson: Uint8Array; readonly signature: Uint8Array }
}

const KEYS: Readonly<Record<Algorithm, () => { readonly privateKey: KeyObject; readonly publicKey: KeyObject }>> = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EdDSA: () => generateKeyPairSync('ed25519'),
}

/** The COSE form of a public key (RFC 9052 §7), by number of its parameters. */
export function coseOf(algorithm: Algorithm, key: KeyObject): Map<number, number | Uint8Array<ArrayBuffer>> {
  const jwk = key.export({ format: 'jwk' })
  const bytes = (member: 'x' | 'y' | 'n' | 'e') => decodeBase64(jwk[member]!)
  const parameters = {
    ES256: () =>
      [
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, bytes('x')],
        [-3, bytes('y')],
      ] as const,
    RS256: () =>
      [
        [1, 3],
        [3, -257],
        [-1, bytes('n')],
        [-2, bytes('e')],
      ] as const,
    EdDSA: () =>
      [
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, bytes('x')],
      ] as const,
  }
  return new Map<number, number | Uint8Array<ArrayBuffer>>(parameters[algorithm]())
}

/** Makes a credential for a relying party. */
export function createCredential(algorithm: Algorithm, relyingParty = 'example.org'): Credential {
  const { privateKey, publicKey } = KEYS[algorithm]()
  return {
    credentialId: encodeBase64Url(randomBytes(32)),
    publicKeyCose: isoCBOR.encode(coseOf(algorithm, publicKey)),
    rpIdHash: sha256(relyingParty),
    assert({ challenge, origin = `https://${relyingParty}`, rpId = relyingParty, ...request }) {
      const { flags = FLAG.userPresent, signCount = 0, client = {}, more = new Uint8Array() } = request
      const members = { type: 'webauthn.get', challenge: encodeBase64Url(challenge), origin, crossOrigin: false }
      const clientDataJson = encodeUtf8(JSON.stringify({ ...members, ...client }))
      const counter = new Uint8Array(4)
      new DataView(counter.buffer).setUint32(0, signCount)
      const authenticatorData = concatBytes(sha256(rpId), Uint8Array.of(flags), counter, more)
      const signed = concatBytes(authenticatorData, sha256(clientDataJson))
      const hash = algorithm === 'EdDSA' ? null : 'sha256'
      return { authenticatorData, clientDataJson, signature: new Uint8Array(sign(hash, signed, privateKey)) }
    },
  }
}
