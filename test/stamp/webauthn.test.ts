import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCoseKey, randomBytes, sha256 } from '../../src/crypto/index.ts'
import { decodeHex, encodeBase64Url, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import {
  readStamp,
  verifyAssertion,
  verifyWebAuthnStamp,
  type WebAuthnExpectation,
  type WebAuthnFault,
  type WebAuthnStamp,
} from '../../src/stamp/index.ts'
import { readVectors } from '../vectors/read-vectors.ts'
import { type Credential, createCredential, FLAG } from './authenticator.ts'

// docs/protocol/stamps.md#test-vectors
const BODY = encodeUtf8('{"organizationId":"00000000-0000-4000-8000-000000000001"}')
const CHALLENGE = 'ZDJkNWMzNzkyMGJmZGU2OGM4Yjg0ZDUyNzIxYjc3NjRhOTlmZDg4MDU2ZmQ4NGE5N2Q2YTJiMDJmYWJhYjcwNA'

const passkey = createCredential('ES256')
const other = createCredential('ES256')

/** What the authenticator is given for a body. */
const challengeOf = (body: Uint8Array) => encodeUtf8(encodeHex(sha256(body)))

type Request = Parameters<Credential['assert']>[0]

/** Stamps a body, sends it as the published clients do, and reads it. */
function stampOf(credential: Credential, request: Partial<Request> = {}): WebAuthnStamp {
  const made = credential.assert({ challenge: challengeOf(BODY), ...request })
  const value = JSON.stringify({
    authenticatorData: encodeBase64Url(made.authenticatorData),
    clientDataJson: encodeBase64Url(made.clientDataJson),
    credentialId: credential.credentialId,
    signature: encodeBase64Url(made.signature),
  })
  return readStamp({ 'X-Stamp-WebAuthn': value }, { accept: ['webauthn'] })
}

const { publicKeyCose } = passkey
const verify = (stamp: WebAuthnStamp, expected: Partial<WebAuthnExpectation> = {}) =>
  verifyWebAuthnStamp(stamp, { body: BODY, publicKeyCose, ...expected })

function flip(bytes: Uint8Array, bit: number): Uint8Array<ArrayBuffer> {
  const changed = Uint8Array.from(bytes)
  changed[bit >> 3]! ^= 1 << (bit & 7)
  return changed
}

describe('accept', () => {
  test('webauthn: the challenge is that of the published vector', () => {
    const stamp = stampOf(passkey)
    expect(JSON.parse(Buffer.from(stamp.clientDataJson).toString())).toMatchObject({ challenge: CHALLENGE })
    expect(verify(stamp)).toEqual({ verified: true, signCount: 0, userVerified: false, backedUp: false })
  })

  for (const algorithm of ['ES256', 'RS256', 'EdDSA'] as const) {
    test(`webauthn: 50 random bodies verify with ${algorithm}`, () => {
      const credential = createCredential(algorithm)
      const verdicts = Array.from({ length: 50 }, (_, i) => {
        const body = randomBytes(i * 40)
        const stamp = stampOf(credential, { challenge: challengeOf(body) })
        return verify(stamp, { body, publicKeyCose: credential.publicKeyCose, rpIdHash: credential.rpIdHash }).verified
      })
      expect(verdicts).toEqual(Array(50).fill(true))
    })
  }

  const all = FLAG.userPresent | FLAG.userVerified | FLAG.backupEligible | FLAG.backedUp
  const origin = 'https://example.org'
  const android = 'android:apk-key-hash:Zm9vYmFy'
  const table: readonly { name: string; request?: Partial<Request>; expected?: Partial<WebAuthnExpectation> }[] = [
    { name: 'a user who was only present', request: { flags: FLAG.userPresent } },
    { name: 'any origin where none is listed', request: { origin: 'https://elsewhere.test' } },
    { name: 'a listed origin', expected: { allowedOrigins: ['https://a.test', origin] } },
    { name: 'a listed mobile origin', request: { origin: android }, expected: { allowedOrigins: [android] } },
    { name: 'a frame whose outer page is not told', request: { client: { crossOrigin: true } } },
    {
      name: 'a frame in a listed page',
      request: { client: { crossOrigin: true, topOrigin: 'https://shop.test' } },
      expected: { allowedOrigins: [origin, 'https://shop.test'] },
    },
    { name: 'extra members in the client data', request: { client: { extraData: 'more', tokenBinding: { a: [1] } } } },
    {
      name: 'extensions after the counter',
      request: { flags: FLAG.userPresent | FLAG.extensions, more: decodeHex('a0') },
    },
    { name: 'the relying party of the registration', expected: { rpIdHash: passkey.rpIdHash } },
    { name: 'a synced passkey', request: { flags: all }, expected: { backupEligible: true } },
    { name: 'a passkey bound to its device', expected: { backupEligible: false } },
  ]
  for (const { name, request, expected } of table) {
    test(`webauthn: ${name} is accepted`, () => {
      expect(verify(stampOf(passkey, request), expected)).toMatchObject({ verified: true })
    })
  }

  test('webauthn: the counter and the state of the user are told, and refuse nothing', () => {
    expect(verify(stampOf(passkey, { flags: all, signCount: 0xffff_fffe }))).toEqual({
      verified: true,
      signCount: 0xffff_fffe,
      userVerified: true,
      backedUp: true,
    })
  })

  test('webauthn: a high s verifies, as authenticators make them', () => {
    const signatures = Array.from({ length: 40 }, () => stampOf(passkey))
    const lengths = new Set(signatures.map(({ signature }) => signature.length))
    expect(signatures.every((stamp) => verify(stamp).verified)).toBe(true)
    // Each of the two integers has a sign byte or not, so both halves of the range of s came up.
    expect(lengths.size).toBeGreaterThan(1)
  })
})

describe('refuse', () => {
  const table: readonly {
    name: string
    fault: WebAuthnFault
    request?: Partial<Request>
    expected?: Partial<WebAuthnExpectation>
    by?: Credential
    change?: (stamp: WebAuthnStamp) => Partial<WebAuthnStamp>
  }[] = [
    { name: 'a registration', fault: 'type', request: { client: { type: 'webauthn.create' } } },
    { name: 'no type', fault: 'type', request: { client: { type: undefined } } },
    { name: 'another body', fault: 'challenge', expected: { body: encodeUtf8('{}') } },
    { name: 'the 32 bytes of the hash as challenge', fault: 'challenge', request: { challenge: sha256(BODY) } },
    {
      name: 'the hash in upper case',
      fault: 'challenge',
      request: { challenge: encodeUtf8(encodeHex(sha256(BODY)).toUpperCase()) },
    },
    { name: 'a padded challenge', fault: 'challenge', request: { client: { challenge: `${CHALLENGE}==` } } },
    { name: 'a challenge in a list', fault: 'challenge', request: { client: { challenge: [CHALLENGE] } } },
    { name: 'no challenge', fault: 'challenge', request: { client: { challenge: undefined } } },
    { name: 'an origin that is not listed', fault: 'origin', expected: { allowedOrigins: ['https://a.test'] } },
    { name: 'any origin where the list is empty', fault: 'origin', expected: { allowedOrigins: [] } },
    ...['http://example.org', 'https://example.org:8443', 'https://sub.example.org', 'https://example.org/'].map(
      (origin) => ({
        name: `the origin ${origin} for another`,
        fault: 'origin' as const,
        request: { origin },
        expected: { allowedOrigins: ['https://example.org'] },
      }),
    ),
    { name: 'no origin', fault: 'origin', request: { client: { origin: undefined } } },
    {
      name: 'an outer page that is not listed',
      fault: 'top-origin',
      request: { client: { crossOrigin: true, topOrigin: 'https://evil.test' } },
      expected: { allowedOrigins: ['https://example.org'] },
    },
    {
      name: 'an outer page without a frame',
      fault: 'top-origin',
      request: { client: { crossOrigin: false, topOrigin: 'https://example.org' } },
    },
    {
      name: 'another relying party',
      fault: 'rp-id',
      request: { rpId: 'evil.test' },
      expected: { rpIdHash: passkey.rpIdHash },
    },
    { name: 'an absent user', fault: 'user-present', request: { flags: 0 } },
    { name: 'a user verified but not present', fault: 'user-present', request: { flags: FLAG.userVerified } },
    {
      name: 'a copy of what cannot be copied',
      fault: 'backup-state',
      request: { flags: FLAG.userPresent | FLAG.backedUp },
    },
    { name: 'a passkey that was synced before', fault: 'backup-eligible', expected: { backupEligible: true } },
    {
      name: 'a passkey that was bound to its device before',
      fault: 'backup-eligible',
      request: { flags: FLAG.userPresent | FLAG.backupEligible },
      expected: { backupEligible: false },
    },
    { name: 'the credential of another', fault: 'signature', by: other },
    { name: 'the key of another', fault: 'signature', expected: { publicKeyCose: other.publicKeyCose } },
    {
      name: 'a signature one bit off',
      fault: 'signature',
      change: ({ signature }) => ({ signature: flip(signature, signature.length * 8 - 1) }),
    },
    {
      name: 'a byte after the signature',
      fault: 'signature',
      change: ({ signature }) => ({ signature: Uint8Array.of(...signature, 0) }),
    },
    {
      name: 'a counter that was not signed',
      fault: 'signature',
      change: ({ authenticatorData }) => ({ authenticatorData: flip(authenticatorData, 36 * 8) }),
    },
    {
      name: 'white space in the client data that was not signed',
      fault: 'signature',
      change: ({ clientDataJson }) => ({ clientDataJson: Uint8Array.of(...clientDataJson, 0x20) }),
    },
    {
      name: 'authenticator data that is cut off',
      fault: 'authenticator-data',
      change: ({ authenticatorData }) => ({ authenticatorData: authenticatorData.slice(0, 36) }),
    },
    {
      name: 'more authenticator data than announced',
      fault: 'authenticator-data',
      request: { more: Uint8Array.of(0) },
    },
    { name: 'extensions that are not there', fault: 'authenticator-data', request: { flags: 1 | FLAG.extensions } },
    ...['{', '[]', 'null', '"webauthn.get"', ''].map((text) => ({
      name: `client data that is \`${text}\``,
      fault: 'client-data' as const,
      change: () => ({ clientDataJson: encodeUtf8(text) }),
    })),
    {
      name: 'client data that is no UTF-8',
      fault: 'client-data',
      change: () => ({ clientDataJson: Uint8Array.of(0x7b, 0xff, 0x7d) }),
    },
    { name: 'a stored key that is none', fault: 'public-key', expected: { publicKeyCose: Uint8Array.of(0xa0) } },
  ]
  for (const { name, fault, request, expected, by = passkey, change } of table) {
    test(`webauthn: ${name} is refused: ${fault}`, () => {
      const stamp = stampOf(by, request)
      expect(verify({ ...stamp, ...change?.(stamp) }, expected)).toEqual({ verified: false, fault })
    })
  }

  test('webauthn: nothing one bit away verifies, in any part of the stamp', () => {
    const stamp = stampOf(passkey)
    const parts = ['authenticatorData', 'clientDataJson', 'signature'] as const
    fc.assert(
      fc.property(fc.constantFrom(...parts), fc.nat(), (part, n) => {
        const changed = flip(stamp[part], n % (stamp[part].length * 8))
        return !verify({ ...stamp, [part]: changed }).verified
      }),
      { numRuns: 400 },
    )
  })
})

describe('vectors', () => {
  const cases = readVectors<{
    readonly name: string
    readonly challenge: string
    readonly credentialPublicKey: string
    readonly credentialId: string
    readonly authenticatorData: string
    readonly clientDataJSON: string
    readonly signature: string
  }>('webauthn/level-3-assertions.jsonl').map((row) => ({
    name: row.name,
    assertion: {
      authenticatorData: decodeHex(row.authenticatorData),
      clientDataJson: decodeHex(row.clientDataJSON),
      signature: decodeHex(row.signature),
    },
    expected: {
      challenge: decodeHex(row.challenge),
      publicKeyCose: decodeHex(row.credentialPublicKey),
      rpIdHash: sha256('example.org'),
      allowedOrigins: ['https://example.org', 'https://example.com'],
    },
  }))

  test('webauthn: all 14 assertions of section 16 of Level 3 verify', () => {
    const verdicts = cases.map(({ name, assertion, expected }) => [name, verifyAssertion(assertion, expected).verified])
    expect(verdicts).toEqual([
      ['none-es256', true],
      ['packed-self-es256', true],
      ['none-es256-crossOrigin', true],
      ['none-es256-topOrigin', true],
      ['none-es256-long-credential-id', true],
      ['packed-es256', true],
      ['packed-es384', true],
      ['packed-es512', true],
      ['packed-rs256', true],
      ['packed-eddsa', true],
      ['tpm-es256', true],
      ['android-key-es256', true],
      ['apple-es256', true],
      ['fido-u2f-es256', true],
    ])
  })

  test('webauthn: their keys are of the five algorithms of the table', () => {
    const algorithms = cases.map(({ expected }) => parseCoseKey(expected.publicKeyCose)?.algorithm)
    expect([...new Set(algorithms)]).toEqual(['ES256', 'ES384', 'ES512', 'RS256', 'EdDSA'])
  })

  test('webauthn: none of them verifies under the key, for the challenge or at the party of another', () => {
    const faults = cases.flatMap(({ assertion, expected }, i) => {
      const next = cases[(i + 1) % cases.length]!.expected
      return [
        verifyAssertion(assertion, { ...expected, publicKeyCose: next.publicKeyCose }),
        verifyAssertion(assertion, { ...expected, challenge: next.challenge }),
        verifyAssertion(assertion, { ...expected, rpIdHash: sha256('example.com') }),
        verifyAssertion(assertion, { ...expected, allowedOrigins: ['https://example.com'] }),
      ].map((verdict) => (verdict.verified ? 'verified' : verdict.fault))
    })
    expect(faults).toEqual(cases.flatMap(() => ['signature', 'challenge', 'rp-id', 'origin']))
  })
})
