/** Verification tokens and the signatures of their holders, on a store, with the published library as the reader. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { verifyOtpVerificationToken } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair, newUuid, randomBytes, signEs256, uncompressP256 } from '../../../src/crypto/index.ts'
import { encodeBase64Url, encodeHex, encodeUtf8 } from '../../../src/encoding/index.ts'
import type { Wire } from '../../../src/protocol/index.ts'
import { createSealing, createServiceKeys, openServiceKey } from '../../../src/service/keys/index.ts'
import { type Database, openDatabase } from '../../../src/service/store/index.ts'
import {
  checkClientSignature,
  consumeVerificationToken,
  issueVerificationToken,
  type TokenUsage,
  type VerificationClaims,
  verifyVerificationToken,
} from '../../../src/service/verification/index.ts'
import { Secret } from '../../../src/telemetry/index.ts'

const [PARENT, CHILD, SIBLING, STRANGER] = [1, 2, 3, 4].map((n) => `00000000-0000-4000-8000-00000000000${n}`) as [
  string,
  string,
  string,
  string,
]
// The published reader knows no clock but the machine's.
const NOW = Date.now()
const sealing = createSealing(new Secret(randomBytes(32)), randomBytes)
const holder = generateP256KeyPair()
const contact = 'ann@example.com'

let folder: string
let database: Database
let serviceKey: { readonly publicKey: string; readonly privateKey: string }
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-tokens-'))
  const file = join(folder, 'quorate.db')
  database = openDatabase(file, { now: NOW })
  const direct = new DatabaseSync(file)
  const parents = [
    [PARENT, null],
    [CHILD, PARENT],
    [SIBLING, PARENT],
    [STRANGER, null],
  ] as const
  for (const [id, parent] of parents)
    direct
      .prepare(
        `insert into organizations (id, parent_id, name, quorum_threshold, created_at, updated_at, position)
          values (?, ?, 'o', 1, 1, 1, ?)`,
      )
      .run(id, parent, Number(id.at(-1)))
  direct.close()
  serviceKey = await database.write(async (tx) => {
    await createServiceKeys(tx, { sealing, randomBytes, now: NOW })
    return openServiceKey(tx, sealing.unseal, 'tls-fetcher')
  })
})
afterAll(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

const issue = (organizationId = PARENT, proved: object = {}) =>
  database.write((tx) =>
    issueVerificationToken(
      { tx, organizationId, now: NOW, newId: () => newUuid(randomBytes), unseal: sealing.unseal },
      { verificationType: 'OTP_TYPE_EMAIL', contact, publicKey: holder.publicKey, ...proved },
    ),
  )
const verify = (jwt: string, { organizationId = PARENT, now = NOW } = {}) =>
  database.read((tx) => verifyVerificationToken({ tx, organizationId, now }, jwt))
const consume = (claims: VerificationClaims) =>
  database.write((tx) => consumeVerificationToken({ tx, organizationId: PARENT, now: NOW }, claims))

/** A token of the same payload, changed, and signed anew by a key. */
const forge = (jwt: string, change: { header?: object; payload?: object; key?: string }) => {
  const [header, payload] = jwt.split('.', 2).map((part) => JSON.parse(String(Buffer.from(part, 'base64url'))))
  const encode = (value: object) => encodeBase64Url(encodeUtf8(JSON.stringify(value)))
  const signed = `${encode({ ...header, ...change.header })}.${encode({ ...payload, ...change.payload })}`
  return `${signed}.${encodeBase64Url(signEs256(change.key ?? generateP256KeyPair().privateKey, encodeUtf8(signed)))}`
}

describe('a verification token', () => {
  test('is read by the published library, and says what was proved', async () => {
    const jwt = await issue(PARENT, { publicKey: uncompressP256(holder.publicKey) })
    const claims = await verifyOtpVerificationToken(jwt, serviceKey.publicKey)
    expect(claims).toMatchObject({
      exp: String(NOW + 3_600_000),
      organization_id: PARENT,
      verification_type: 'OTP_TYPE_EMAIL',
      contact,
      public_key: holder.publicKey,
    })
    expect(await verify(jwt)).toMatchObject({ id: claims.id, contact, publicKey: holder.publicKey })
  })

  test('of a parent serves in its sub-organizations, one of a sub-organization nowhere else', async () => {
    expect(await verify(await issue(), { organizationId: CHILD })).toMatchObject({ organizationId: PARENT })
    expect(await verify(await issue(CHILD), { organizationId: CHILD })).toMatchObject({ organizationId: CHILD })
    const elsewhere = 'invalid verification token: it was issued for another organization'
    for (const organizationId of [PARENT, SIBLING, STRANGER])
      await expect(verify(await issue(CHILD), { organizationId })).rejects.toThrow(elsewhere)
    await expect(verify(await issue(), { organizationId: STRANGER })).rejects.toThrow(elsewhere)
  })

  test('serves until it expires, and once', async () => {
    const jwt = await issue(PARENT, { expirationSeconds: 10 })
    await expect(verify(jwt, { now: NOW + 10_000 })).rejects.toThrow('it has expired')
    const claims = await verify(jwt, { now: NOW + 9_999 })
    await consume(claims)
    await expect(verify(jwt)).rejects.toThrow('it was used')
    await expect(consume(claims)).rejects.toThrow()
  })

  test('is none where another key signed it, or its header asks for another check', async () => {
    const jwt = await issue()
    const [header, payload, signature] = jwt.split('.') as [string, string, string]
    const key = serviceKey.privateKey
    const none = encodeBase64Url(encodeUtf8('{"typ":"JWT","alg":"none"}'))
    const forgeries = {
      'signed by somebody else': forge(jwt, {}),
      'another algorithm': forge(jwt, { key, header: { alg: 'HS256' } }),
      'another type': forge(jwt, { key, header: { typ: 'JOSE' } }),
      'no signature': `${none}.${payload}.`,
      'the signature of another payload': `${header}.${forge(jwt, {}).split('.')[1]?.replace('e', 'f')}.${signature}`,
      'two parts': `${header}.${payload}`,
      'four parts': `${jwt}.x`,
      'no token': 'x',
      nothing: '',
      'more than a token': `${jwt}${'A'.repeat(5_000)}`,
      'an expiry that is a number': forge(jwt, { key, payload: { exp: NOW + 1_000 } }),
      'a type that is none': forge(jwt, { key, payload: { verification_type: 'toString' } }),
    }
    for (const [name, forged] of Object.entries(forgeries))
      await expect(verify(forged), name).rejects.toThrow(
        'invalid verification token: it was not issued by this service',
      )
    expect(await verify(forge(jwt, { key }))).toMatchObject({ contact })
  })
})

describe('a client signature', () => {
  const claims: VerificationClaims = {
    id: '00000000-0000-4000-8000-0000000000aa',
    organizationId: PARENT,
    verificationType: 'OTP_TYPE_EMAIL',
    contact,
    publicKey: holder.publicKey,
    isPlain: false,
    expiresAt: NOW + 1,
  }
  const session = generateP256KeyPair().publicKey
  const login = { type: 'login', publicKey: session } as const
  const message = { login: { publicKey: session }, tokenId: claims.id, type: 'USAGE_TYPE_LOGIN' }
  const credentials = {
    apiKeys: [{ apiKeyName: 'k', publicKey: session, curveType: 'API_KEY_CURVE_P256' }],
    authenticators: [],
    oauthProviders: [],
  }
  const signup = { type: 'signup', email: contact, phoneNumber: undefined, ...credentials } as const
  const signupMessage = {
    signupV2: { ...credentials, email: contact },
    tokenId: claims.id,
    type: 'USAGE_TYPE_SIGNUP',
  }
  const sign = (text: string, key = holder.privateKey) => encodeHex(signEs256(key, encodeUtf8(text)))
  const signed = (value: object | string, over: Partial<Wire.ClientSignature> = {}): Wire.ClientSignature => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const scheme = 'CLIENT_SIGNATURE_SCHEME_API_P256'
    return { publicKey: holder.publicKey, scheme, message: text, signature: sign(text), ...over }
  }
  const check = (signature: Wire.ClientSignature | undefined, usage: TokenUsage = login, of = claims) =>
    checkClientSignature(signature, { claims: of, token: 'a.b.c', usage })

  test('is taken in every form that clients write', () => {
    check(signed(message))
    check(signed(message, { publicKey: uncompressP256(holder.publicKey)!.toUpperCase() }))
    const { type, tokenId, login: of } = message
    check(signed({ type, tokenId, login: of }))
    check(signed(` ${JSON.stringify(message, null, 2)}`))
    check(signed(signupMessage), signup)
    const { signupV2, ...rest } = signupMessage
    check(signed({ ...rest, signup: { email: contact, apiKeys: signupV2.apiKeys } }), signup)
    const older = {
      publicKey: '',
      message: '',
      scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256',
      signature: sign('a.b.c'),
    } as const
    check(older, { type: 'login', publicKey: uncompressP256(holder.publicKey)! })
  })

  const other = generateP256KeyPair()
  const older = { publicKey: '', message: '', signature: sign('a.b.c') }
  test.each<[string, Wire.ClientSignature | undefined, string, TokenUsage?, VerificationClaims?]>([
    ['that is missing', undefined, 'it is missing'],
    ['of a token without a key', signed(message), 'bound to no key', login, { ...claims, publicKey: undefined! }],
    ['of another key', signed(message, { publicKey: other.publicKey }), 'its public key is not that'],
    ['by another key', signed(message, { signature: sign(JSON.stringify(message), other.privateKey) }), 'did not sign'],
    ['of another message', signed(message, { message: '{}' }), 'did not sign'],
    ['that is no hex', signed(message, { signature: 'zz' }), 'did not sign'],
    ['that is empty', signed(message, { signature: '' }), 'did not sign'],
    ['of another scheme', signed(message, { scheme: 'X' as never }), 'its scheme must be'],
    ['of no JSON', signed('login'), 'no JSON object'],
    ['of a list', signed('[]'), 'no JSON object'],
    ['of a member twice', signed(`{"type":"x",${JSON.stringify(message).slice(1)}`), 'no JSON object'],
    ['for another token', signed({ ...message, tokenId: PARENT }), 'names another token'],
    ['for another use', signed({ ...message, type: 'USAGE_TYPE_SIGNUP' }), 'is for another use'],
    ['for another session key', signed({ ...message, login: { publicKey: other.publicKey } }), 'names another key'],
    ['for no session key', signed({ ...message, login: {} }), 'names another key'],
    ['without a login', signed({ tokenId: claims.id, type: message.type }), 'names another key'],
    ['in the older form for another key', signed(message, older), 'for the key of the verification token alone'],
    ['in the older form of another text', signed(message, { ...older, signature: sign('a.b.d') }), 'did not make it'],
    ['of a sign-up, for a login', signed(message), 'is for another use', signup],
    ['of a sign-up with another key', signed(signupMessage), 'apiKeys', { ...signup, apiKeys: [] }],
    ['of a sign-up with a passkey more', signed(signupMessage), 'authenticators', { ...signup, authenticators: [{}] }],
    ['of a sign-up with a provider more', signed(signupMessage), 'oauthProviders', { ...signup, oauthProviders: [{}] }],
    ['of a sign-up with another contact', signed(signupMessage), 'email', { ...signup, email: 'bob@example.com' }],
    [
      'of a sign-up with a number more',
      signed(signupMessage),
      'phoneNumber',
      { ...signup, phoneNumber: '+49301234567' },
    ],
    ['of a sign-up without what it is', signed({ ...signupMessage, signupV2: 1 }), 'does not say', signup],
  ])('%s is refused', (_, signature, why, usage = login, of = claims) => {
    expect(() => check(signature, usage, of)).toThrow(new RegExp(`^invalid client signature: .*${why}`))
  })
})
