/**
 * What pages and programs may not do at the authentication proxy: origins, headers, ways in that are off, contacts and tokens of
 * others, older forms. Each row is refused with its error, and of everything that the service keeps nothing is changed by it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair, KEY_CURVES } from '../../src/crypto/index.ts'
import type { JsonObject, ProxyEndpointName } from '../../src/protocol/index.ts'
import { complete, NOBODY } from '../service/handlers/steps.ts'
import { makePerson, nonceOf } from '../service/oauth/stage.ts'
import { startIssuer, type TestIssuer } from '../service/oidc/issuer.ts'
import {
  claimsOf,
  codeIn,
  encryptCode,
  loginBy,
  messageOf,
  type Proof,
  prove,
  sign,
} from '../service/one-time-passcodes/outbox.ts'
import { createPasskey } from '../service/passkey.ts'
import { newSignUp, type ProxyAnswer, type ProxyStage, said, startProxyStage } from '../service/proxy/stage.ts'
import { type AbuseRow, abuseRows, untilMessagesAreNoted } from './abuse-table.ts'

const APP = 'https://app.acme.test'
const ADA = 'ada@acme.test'
const SETTINGS = {
  allowedOrigins: [APP],
  allowedAuthMethods: ['email', 'oauth'],
  verificationTokenRequiredForGetAccountPii: true,
}

let issuer: TestIssuer
let stage: ProxyStage
let ada: { readonly organizationId: string }
let bob: { readonly organizationId: string }
/** Tokens of Ada: two fresh ones, one that was used, one whose code came in clear. One of nobody, and one by SMS. */
let tokens: Readonly<Record<'ada' | 'good' | 'nobody' | 'used' | 'sms' | 'plain', Proof>>
/** A code that was asked for in the second form, and has been used. */
let code: { readonly otpId: string; readonly bundle: string; readonly code: string }
beforeAll(async () => {
  issuer = await startIssuer('ES256')
  stage = await startProxyStage({ privateIssuers: [issuer.url] })
  ada = await makePerson(stage, [], { userEmail: ADA })
  bob = await makePerson(stage, [await issuer.token({ sub: 'bob' })], { userEmail: 'bob@acme.test' })
  const used = await prove(stage, { contact: ADA })
  await complete(stage.root, 'ACTIVITY_TYPE_OTP_LOGIN_V2', loginBy(used, newKey()), ada.organizationId)
  const { result, message } = await messageOf(stage, () =>
    complete(stage.root, 'ACTIVITY_TYPE_INIT_OTP_V3', { otpType: 'OTP_TYPE_EMAIL', contact: ADA, appName: 'x' }),
  )
  const { otpId, otpEncryptionTargetBundle: bundle } = result
  code = { otpId, bundle, code: codeIn(message) }
  const key = generateP256KeyPair()
  const encryptedOtpBundle = await encryptCode(stage, code, code.code, key.publicKey)
  const { verificationToken } = await complete(stage.root, 'ACTIVITY_TYPE_VERIFY_OTP_V2', { otpId, encryptedOtpBundle })
  const init = { otpType: 'OTP_TYPE_EMAIL', contact: ADA, appName: 'x' }
  const plain = await messageOf(stage, () => complete(stage.root, 'ACTIVITY_TYPE_INIT_OTP_V2', init))
  const inClear = { otpId: plain.result.otpId, otpCode: codeIn(plain.message), publicKey: key.publicKey }
  const proved = await complete(stage.root, 'ACTIVITY_TYPE_VERIFY_OTP', inClear)
  tokens = {
    used,
    ada: { token: verificationToken, key },
    good: await prove(stage, { contact: ADA }),
    nobody: await prove(stage, { contact: 'nobody@acme.test' }),
    sms: await prove(stage, { otpType: 'OTP_TYPE_SMS', contact: '+4930555999' }),
    plain: { token: proved.verificationToken, key },
  }
  await stage.set(SETTINGS)
  await untilMessagesAreNoted(stage.dataDir)
})
afterAll(async () => {
  await stage?.close()
  await issuer?.close()
})

const newKey = () => generateP256KeyPair().publicKey
const post =
  (endpoint: ProxyEndpointName, body: object | string, headers = {}) =>
  () =>
    stage.post(endpoint, body, headers)
const signUp = (overrides: object = {}, headers = {}) => post('signup_v2', newSignUp(overrides), headers)
const login =
  (body: () => object, endpoint: ProxyEndpointName = 'otp_login_v2') =>
  () =>
    stage.post(endpoint, body())
const look = (filterType: string, filterValue: string, more: object = {}) =>
  post('account', { filterType, filterValue, ...more })

type Row = AbuseRow<ProxyAnswer>

const ORIGINS = [
  'https://evil.test',
  'http://app.acme.test',
  `${APP}:8443`,
  `${APP}/`,
  `${APP}.evil.test`,
  'https://sub.app.acme.test',
  `${APP}, https://evil.test`,
  'null',
  '*',
  '',
]
const origins = ORIGINS.map(
  (origin): Row => [`a page of \`${origin}\` signs up`, () => signUp({}, { origin })(), 403, 'origin not allowed'],
)

const headers: readonly Row[] = [
  ['no configuration', signUp({}, { 'x-auth-proxy-config-id': undefined }), 400, 'header is required'],
  ['a configuration that is none', signUp({}, { 'x-auth-proxy-config-id': 'x' }), 404, 'not found'],
  ['a configuration of nobody', signUp({}, { 'x-auth-proxy-config-id': NOBODY }), 404, 'not found'],
  [
    'two configurations',
    () => signUp({}, { 'x-auth-proxy-config-id': `${stage.configId}, ${stage.configId}` })(),
    404,
    'not found',
  ],
  [
    'the id of the organization as configuration',
    () => signUp({}, { 'x-auth-proxy-config-id': stage.organizationId })(),
    404,
    'not found',
  ],
]

const forms: readonly Row[] = [
  ['a sign-up that is no JSON', post('signup_v2', '{'), 400, 'bad request body'],
  ['a sign-up that is a list', post('signup_v2', '[]'), 400, ''],
  ['a sign-up with a member twice', post('signup_v2', '{"userName":"a","user_name":"b","apiKeys":[]}'), 400, ''],
  ['a code by WhatsApp', post('otp_init_v2', { otpType: 'OTP_TYPE_WHATSAPP', contact: ADA }), 400, 'otpType'],
  ['a code for a contact with a line more', post('otp_init_v2', mailTo(`${ADA}\nBcc: eve@evil.test`)), 400, ''],
  ['an account by the size of a shoe', look('SHOE_SIZE', '42'), 400, 'filterType'],
]

const waysIn: readonly Row[] = [
  ['a code by SMS where that is off', post('otp_init_v2', smsTo('+4930555998')), 403, 'auth method not enabled'],
  [
    'a code by SMS in the first form, where that is off',
    post('otp_init', smsTo('+4930555998')),
    403,
    'auth method not enabled',
  ],
  ['a login by SMS where that is off', login(() => loginBy(tokens.sms, newKey())), 403, 'auth method not enabled'],
  ['a passkey where that is off', signUp({ authenticators: [createPasskey().register()] }), 403, 'not enabled'],
  [
    'a wallet where that is off',
    () => {
      const { publicKey } = KEY_CURVES.secp256k1.generateKeyPair()
      return signUp({ apiKeys: [{ apiKeyName: 'w', publicKey, curveType: 'API_KEY_CURVE_SECP256K1' }] })()
    },
    403,
    'not enabled',
  ],
  [
    'a provider of OAuth 2.0 that is off',
    post('oauth2_authenticate', {
      provider: 'OAUTH2_PROVIDER_X',
      clientId: 'c',
      authCode: 'a',
      redirectUri: 'https://x',
      codeVerifier: 'v',
      nonce: 'n',
    }),
    403,
    'OAUTH disallowed',
  ],
]

const signUps: readonly Row[] = [
  ['a sign-up with an address that nobody proved', signUp({ userEmail: 'eve@acme.test' }), 400, 'userEmail'],
  ['a sign-up with a number that nobody proved', signUp({ userPhoneNumber: '+4930555997' }), 400, 'userPhoneNumber'],
  ['a sign-up with a tag', signUp({ userTag: 'admins' }), 400, 'userTag'],
  [
    'a sign-up with the address of another token',
    () => signUp({ userEmail: ADA, verificationToken: tokens.nobody.token })(),
    400,
    'userEmail',
  ],
  [
    'a sign-up with a bound token and no signature',
    () => signUp({ userEmail: 'nobody@acme.test', verificationToken: tokens.nobody.token })(),
    400,
    'client signature',
  ],
  [
    'a sign-up whose signature is for a login',
    () => {
      const { clientSignature } = loginBy(tokens.nobody, newKey())
      const of = { userEmail: 'nobody@acme.test', verificationToken: tokens.nobody.token, clientSignature }
      return signUp(of)()
    },
    400,
    'client signature',
  ],
  [
    'a sign-up with a token that was used',
    () => signUp({ userEmail: ADA, verificationToken: tokens.used.token })(),
    400,
    'it was used',
  ],
  ['a sign-up with a token that is none', signUp({ userEmail: ADA, verificationToken: 'a.b.c' }), 400, 'token'],
]

const logins: readonly Row[] = [
  ['a login with a token that was used', login(() => loginBy(tokens.used, newKey())), 400, 'it was used'],
  ['a login with a token of nobody', login(() => loginBy(tokens.nobody, newKey())), 404, 'no account found'],
  ['a login into the home of another', login(() => ({ ...loginBy(tokens.ada, newKey()), ...bob })), 404, ''],
  [
    'a login into the parent',
    login(() => ({ ...loginBy(tokens.ada, newKey()), organizationId: stage.organizationId })),
    404,
    'no account found',
  ],
  [
    'a login into nothing',
    login(() => ({ ...loginBy(tokens.ada, newKey()), organizationId: NOBODY })),
    404,
    'no organization',
  ],
  [
    'a login whose signature is for another key',
    login(() => ({ ...loginBy(tokens.ada, newKey()), publicKey: newKey() })),
    400,
    'client signature',
  ],
  [
    'a login that another key has signed',
    login(() => {
      const publicKey = newKey()
      const message = { login: { publicKey }, tokenId: claimsOf(tokens.ada.token)['id'], type: 'USAGE_TYPE_LOGIN' }
      const clientSignature = sign({ key: generateP256KeyPair() }, message)
      return { verificationToken: tokens.ada.token, publicKey, clientSignature }
    }),
    400,
    'client signature',
  ],
  [
    'a login for the usage of another',
    login(() => loginBy(tokens.ada, newKey(), { type: 'USAGE_TYPE_SIGNUP' })),
    400,
    'client signature',
  ],
  [
    'a bound token in the first form without a signature',
    login(() => ({ verificationToken: tokens.ada.token, publicKey: newKey() }), 'otp_login'),
    400,
    'client signature',
  ],
  [
    'a token whose code came in clear, in the second form',
    login(() => loginBy(tokens.plain, newKey())),
    400,
    'its code was sent in clear',
  ],
  ['a code that was used', login(() => ({ otpId: code.otpId, otpCode: code.code }), 'otp_verify'), 400, 'Invalid OTP'],
  ['a code of nobody', login(() => ({ otpId: NOBODY, otpCode: '000000' }), 'otp_verify'), 400, 'Invalid OTP code'],
]

const accounts: readonly Row[] = [
  ['an account by an address', look('EMAIL', ADA), 400, 'a verification token is required'],
  ['an account by a number', look('PHONE_NUMBER', '+4930555999'), 400, 'a verification token is required'],
  [
    'an account by the address of another',
    () => look('EMAIL', ADA, { verificationToken: tokens.nobody.token })(),
    400,
    'a verification token is required',
  ],
  [
    'an account by an address, with a token for a number',
    () => look('EMAIL', ADA, { verificationToken: tokens.sms.token })(),
    400,
    'a verification token is required',
  ],
  [
    'an account by an address, with a token that was used',
    () => look('EMAIL', ADA, { verificationToken: tokens.used.token })(),
    400,
    'it was used',
  ],
  ['an account by an identity that is none', look('OIDC_TOKEN', 'a.b.c'), 400, 'invalid OIDC token'],
]

const identities: readonly Row[] = [
  ['an identity for another key', oauth(newKey()), 400, 'invalid OIDC token'],
  ['an identity for no key', oauth(undefined), 400, 'invalid OIDC token'],
  ['an identity in the home of another', oauth('own', () => ada), 404, 'oauth provider not found'],
  ['an identity in the parent', oauth('own', () => stage), 404, 'no account found'],
  ['an identity that is none', post('oauth_login', { oidcToken: 'x', publicKey: newKey() }), 400, ''],
]

function mailTo(contact: string): JsonObject {
  return { otpType: 'OTP_TYPE_EMAIL', contact }
}

function smsTo(contact: string): JsonObject {
  return { otpType: 'OTP_TYPE_SMS', contact }
}

/** A login of Bob by his issuer, with a token that is bound to a key: the one that logs in, another one, or none. */
function oauth(bound: string | undefined, home: () => { readonly organizationId: string } = () => bob) {
  return async () => {
    const publicKey = newKey()
    const nonce = bound === undefined ? undefined : nonceOf(bound === 'own' ? publicKey : bound)
    const oidcToken = await issuer.token({ sub: 'bob', nonce })
    return stage.post('oauth_login', { oidcToken, publicKey, organizationId: home().organizationId })
  }
}

const abuse = abuseRows('proxy', () => stage.dataDir)

describe('abuse of the proxy', () => {
  abuse.try([...[...origins, ...headers, ...forms, ...waysIn], ...[...signUps, ...logins, ...accounts, ...identities]])
  abuse.record()

  test('abuse of the proxy: the same requests without anything wrong in them are done', async () => {
    const publicKey = newKey()
    expect((await stage.post('otp_login_v2', loginBy(tokens.good, publicKey), { origin: APP })).status).toBe(200)
    expect(said(await oauth('own')())).toEqual([200, undefined, undefined])
    expect(said(await signUp({}, { origin: APP })())).toEqual([200, undefined, undefined])
  })
})
