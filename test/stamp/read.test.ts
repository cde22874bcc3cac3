import { describe, expect, test } from 'vitest'
import { encodeBase64Url, encodeUtf8 } from '../../src/encoding/index.ts'
import { type Headers, readStamp, SCHEMES, StampError, type StampFault } from '../../src/stamp/index.ts'

const PUBLIC_KEY = '0264fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5eb'
const MEMBERS = { publicKey: PUBLIC_KEY, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature: '3006020101020101' }
const READ = { kind: 'api-key', ...MEMBERS }

const json = (members: object) => JSON.stringify(members)
const encode = (text: string) => encodeBase64Url(encodeUtf8(text))
const stamp = (members: object) => encode(json(members))
/** Standard base64 with padding, as Go and some shells write it. */
const base64 = (text: string) => Buffer.from(text).toString('base64')

function faultOf(headers: Headers) {
  try {
    readStamp(headers)
  } catch (error) {
    if (!(error instanceof StampError)) throw error
    const { reason, code, message, facts } = error
    return { reason, code, message, facts }
  }
  throw new Error('expected a fault, got a stamp')
}

describe('read', () => {
  const { publicKey, scheme, signature } = MEMBERS
  // A member of three lengths gives each of the three paddings; `?>~` gives each of the characters that differ.
  const padded = ['', 'x', 'xx'].map((more) => json({ ...MEMBERS, more: `?>~~${more}` }))
  const table: readonly { name: string; headers: Headers }[] = [
    { name: 'the header in lower case', headers: { 'x-stamp': stamp(MEMBERS) } },
    { name: 'the header in any case', headers: { 'X-STAMP': stamp(MEMBERS) } },
    { name: 'a list of one', headers: { 'x-stamp': [stamp(MEMBERS)] } },
    { name: 'bare JSON', headers: { 'x-stamp': json(MEMBERS) } },
    { name: 'the member order of Go and Rust', headers: { 'x-stamp': stamp({ publicKey, signature, scheme }) } },
    { name: 'a member it does not know', headers: { 'x-stamp': stamp({ ...MEMBERS, more: 1 }) } },
    { name: 'a key in upper case', headers: { 'x-stamp': stamp({ ...MEMBERS, publicKey: publicKey.toUpperCase() }) } },
    { name: 'a key with 0x', headers: { 'x-stamp': stamp({ ...MEMBERS, publicKey: `0x${publicKey}` }) } },
    { name: 'white space around it', headers: { 'x-stamp': ` ${stamp(MEMBERS)} ` } },
    { name: 'an empty stamp of another kind', headers: { 'x-stamp': stamp(MEMBERS), 'x-stamp-webauthn': '' } },
    { name: 'headers that are no stamp', headers: { 'x-stamp': stamp(MEMBERS), 'x-client-version': 'a@1', host: 'b' } },
    ...padded.map((text, i) => ({ name: `padded standard base64 (${i})`, headers: { 'x-stamp': base64(text) } })),
  ]
  for (const { name, headers } of table) {
    test(`read: ${name} is accepted`, () => {
      expect(readStamp(headers)).toEqual(READ)
    })
  }
})

describe('refuse', () => {
  const good = stamp(MEMBERS)
  const SEVERAL = 'request carries more than one stamp'
  const MISSING = 'cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)'
  const table: readonly { name: string; headers: Headers; reason: StampFault; message: string; stamps?: string }[] = [
    { name: 'no header', headers: {}, reason: 'missing', message: MISSING },
    { name: 'an empty header', headers: { 'x-stamp': '' }, reason: 'missing', message: MISSING },
    { name: 'an empty list', headers: { 'x-stamp': [] }, reason: 'missing', message: MISSING },
    { name: 'an absent header', headers: { 'x-stamp': undefined }, reason: 'missing', message: MISSING },
    {
      name: 'two kinds of stamp',
      headers: { 'x-stamp': good, 'x-stamp-webauthn': '{"credentialId":"a"}' },
      reason: 'several',
      message: SEVERAL,
      stamps: 'X-Stamp, X-Stamp-Webauthn',
    },
    {
      name: 'a stamp and a session',
      headers: { 'x-session': 'abc', 'x-stamp': good },
      reason: 'several',
      message: SEVERAL,
      stamps: 'X-Stamp, X-Session',
    },
    {
      name: 'the same header twice in a list',
      headers: { 'x-stamp': [good, good] },
      reason: 'several',
      message: SEVERAL,
      stamps: 'X-Stamp, X-Stamp',
    },
    {
      name: 'the same header twice, joined',
      headers: { 'x-stamp': `${good}, ${good}` },
      reason: 'several',
      message: SEVERAL,
      stamps: 'X-Stamp, X-Stamp',
    },
    {
      name: 'the same header in two cases',
      headers: { 'x-stamp': good, 'X-Stamp': good },
      reason: 'several',
      message: SEVERAL,
      stamps: 'X-Stamp, X-Stamp',
    },
    ...[
      { name: 'no base64', value: 'a stamp!' },
      { name: 'a cut stamp', value: good.slice(0, -8) },
      { name: 'base64 of no JSON', value: encode('stamp') },
      { name: 'base64 of no UTF-8', value: encodeBase64Url(Uint8Array.of(0xff, 0xfe, 0xfd)) },
      { name: 'a JSON list', value: encode('[]') },
      { name: 'a JSON null', value: encode('null') },
      { name: 'a JSON text', value: encode('"stamp"') },
      { name: 'bare JSON that is cut', value: json(MEMBERS).slice(0, -1) },
    ].map(({ name, value }) => ({
      name,
      headers: { 'x-stamp': value },
      reason: 'malformed' as const,
      message: 'malformed activity stamp',
    })),
    ...[
      { name: 'no members', members: {} },
      { name: 'no signature', members: { ...MEMBERS, signature: undefined } },
      { name: 'an empty signature', members: { ...MEMBERS, signature: '' } },
      { name: 'a signature that is no hex', members: { ...MEMBERS, signature: 'MAYCAQE' } },
      { name: 'a signature that is a number', members: { ...MEMBERS, signature: 30 } },
      { name: 'a key of another length', members: { ...MEMBERS, publicKey: PUBLIC_KEY.slice(2) } },
      { name: 'an uncompressed key', members: { ...MEMBERS, publicKey: `04${'11'.repeat(64)}` } },
      { name: 'an unknown scheme', members: { ...MEMBERS, scheme: 'SIGNATURE_SCHEME_TK_API_P384' } },
      { name: 'a scheme named like a member of every object', members: { ...MEMBERS, scheme: 'constructor' } },
      { name: 'an Ed25519 scheme with a point', members: { ...MEMBERS, scheme: 'SIGNATURE_SCHEME_TK_API_ED25519' } },
    ].map(({ name, members }) => ({
      name,
      headers: { 'x-stamp': stamp(members) },
      reason: 'malformed' as const,
      message: 'could not extract api key stamp',
    })),
    {
      name: 'a passkey stamp',
      headers: { 'X-Stamp-WebAuthn': '{"credentialId":"a","signature":"b"}' },
      reason: 'unsupported',
      message: 'passkey stamps are not supported',
    },
    {
      name: 'an attested stamp',
      headers: { 'x-stamp-attested': good },
      reason: 'unsupported',
      message: 'attested stamps are not supported',
    },
    {
      name: 'a read-only session',
      headers: { 'x-session': 'abc' },
      reason: 'unsupported',
      message: 'read-only sessions are not supported',
    },
  ]
  for (const { name, headers, reason, message, stamps } of table) {
    test(`read: ${name} is ${reason}`, () => {
      expect(faultOf(headers)).toEqual({ reason, code: `stamp/${reason}`, message, facts: stamps ? { stamps } : {} })
    })
  }

  test('read: every scheme of the table is read, with a public key of its curve', () => {
    const read = Object.entries(SCHEMES).map(([scheme, { curve }]) => {
      const publicKey = curve === 'ed25519' ? PUBLIC_KEY.slice(2) : PUBLIC_KEY
      return readStamp({ 'x-stamp': stamp({ ...MEMBERS, scheme, publicKey }) }).scheme
    })
    expect(read).toEqual([
      'SIGNATURE_SCHEME_TK_API_P256',
      'SIGNATURE_SCHEME_TK_API_SECP256K1',
      'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191',
      'SIGNATURE_SCHEME_TK_API_ED25519',
    ])
  })
})

describe('passkeys', () => {
  const accept = ['api-key', 'webauthn'] as const
  const read = (headers: Headers) => readStamp(headers, { accept })
  // Bytes whose base64 differs between the alphabets and needs padding.
  const bytes = Uint8Array.of(0xfb, 0xff, 0xfe, 0x01)
  const plain = Buffer.from(bytes).toString('base64')
  const url = encodeBase64Url(bytes)
  const assertion = { credentialId: url, authenticatorData: url, clientDataJson: url, signature: url }
  const standard = { credentialId: plain, authenticatorData: plain, clientDataJson: plain, signature: plain }
  const { credentialId, ...others } = assertion

  for (const { name, header, text } of [
    { name: 'bare JSON', header: json(assertion), text: json(assertion) },
    { name: 'base64url of it', header: stamp(assertion), text: json(assertion) },
    { name: 'base64 with padding', header: base64(json(assertion)), text: json(assertion) },
    { name: 'standard base64 inside', header: json(standard), text: json(standard) },
    { name: 'another order', header: json({ ...others, credentialId }), text: json({ ...others, credentialId }) },
    { name: 'a member it does not know', header: json({ ...assertion, a: 1 }), text: json({ ...assertion, a: 1 }) },
  ]) {
    test(`read: a passkey stamp as ${name} is accepted, and its JSON kept as it was`, () => {
      for (const headerName of ['x-stamp-webauthn', 'X-Stamp-WebAuthn']) {
        expect(read({ [headerName]: header })).toEqual({
          kind: 'webauthn',
          credentialId: url,
          authenticatorData: bytes,
          clientDataJson: bytes,
          signature: bytes,
          text,
        })
      }
    })
  }

  for (const { name, value } of [
    { name: 'no members', value: '{}' },
    { name: 'no signature', value: json({ ...assertion, signature: undefined }) },
    { name: 'an empty credential id', value: json({ ...assertion, credentialId: '' }) },
    { name: 'client data that is no base64', value: json({ ...assertion, clientDataJson: '{}' }) },
    { name: 'client data that is an object', value: json({ ...assertion, clientDataJson: {} }) },
    { name: 'an API key stamp', value: json(MEMBERS) },
  ]) {
    test(`read: a passkey stamp with ${name} is malformed`, () => {
      expect(() => read({ 'x-stamp-webauthn': value })).toThrow(
        expect.objectContaining({ reason: 'malformed', message: 'could not extract webauthn stamp' }),
      )
    })
  }

  test('read: bare JSON that was sent twice is malformed, not the first of the two', () => {
    expect(() => read({ 'x-stamp-webauthn': `${json(assertion)}, ${json(assertion)}` })).toThrow(
      expect.objectContaining({ reason: 'malformed' }),
    )
  })

  test('read: one who accepts passkeys alone gets no API key stamp', () => {
    expect(() => readStamp({ 'x-stamp': stamp(MEMBERS) }, { accept: ['webauthn'] })).toThrow(
      expect.objectContaining({ reason: 'unsupported', message: 'API key stamps are not supported' }),
    )
    expect(read({ 'x-stamp': stamp(MEMBERS) })).toEqual(READ)
  })
})
