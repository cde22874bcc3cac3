/**
 * Logins, sign-ups and changes of a contact by one-time passcodes that must not succeed: each row is refused with its error, and
 * of everything that the service keeps nothing is changed by it.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import {
  addTenant,
  complete,
  makeUser,
  NOBODY,
  newKey,
  type Refusal,
  refusalOf,
  type Tenant,
} from '../service/handlers/steps.ts'
import { createTestClock, startTestService, type TestService } from '../service/harness.ts'
import {
  claimsOf,
  codeIn,
  encryptCode,
  loginBy,
  messageOf,
  type Proof,
  prove,
  requestCode,
  type SentCode,
  sign,
  signUpBy,
} from '../service/one-time-passcodes/outbox.ts'
import { abuseRows, untilMessagesAreNoted } from './abuse-table.ts'

const clock = createTestClock(Date.now())
const LOGIN = 'ACTIVITY_TYPE_OTP_LOGIN_V2'
const VERIFY = 'ACTIVITY_TYPE_VERIFY_OTP_V2'
const VERIFY_PLAIN = 'ACTIVITY_TYPE_VERIFY_OTP'
const SIGN_UP = 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8'
const EMAIL = 'ann@example.com'

let service: TestService
let stranger: Tenant
let ann: string
let proof: Proof
let strangers: Proof
let nobodys: Proof
let sms: Proof
let used: Proof
let plain: string
let lapsed: Proof
let plainCode: { readonly otpId: string; readonly code: string }
let encrypted: SentCode
let usedCode: SentCode
let lockedCode: SentCode
let foreignCode: SentCode
let expiredCode: SentCode
beforeAll(async () => {
  service = await startTestService({ clock })
  stranger = await addTenant(service)
  for (const name of ['OTP_EMAIL_AUTH', 'SMS_AUTH'])
    await complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: `FEATURE_NAME_${name}` })
  ann = await makeUser(service.root, { userEmail: EMAIL })
  const theirs = { client: stranger.client, organizationId: stranger.organizationId }
  expiredCode = await requestCode(service, { contact: 'e@example.com', expirationSeconds: '1' })
  const short = await requestCode(service, { contact: EMAIL })
  const key = generateP256KeyPair()
  const { verificationToken } = await complete(service.root, VERIFY, {
    otpId: short.otpId,
    encryptedOtpBundle: await encryptCode(service, short, short.code, key.publicKey),
    expirationSeconds: '1',
  })
  lapsed = { token: verificationToken, key }
  clock.advance(2_000)
  proof = await prove(service, { contact: EMAIL })
  strangers = await prove(service, { contact: EMAIL }, theirs)
  nobodys = await prove(service, { contact: 'nobody@example.com' })
  sms = await prove(service, { otpType: 'OTP_TYPE_SMS', contact: '+4930111111' })
  used = await prove(service, { contact: EMAIL })
  await complete(service.root, LOGIN, loginBy(used, generateP256KeyPair().publicKey))
  const ask = async (contact: string) => {
    const { result, message } = await messageOf(service, () =>
      complete(service.root, 'ACTIVITY_TYPE_INIT_OTP', { otpType: 'OTP_TYPE_EMAIL', contact }),
    )
    return { otpId: result.otpId, code: codeIn(message) }
  }
  const { otpId, code } = await ask(EMAIL)
  const { publicKey } = generateP256KeyPair()
  plain = (await complete(service.root, VERIFY_PLAIN, { otpId, otpCode: code, publicKey })).verificationToken
  plainCode = await ask('p@example.com')
  encrypted = await requestCode(service, { contact: 'c@example.com' })
  foreignCode = await requestCode(service, { contact: 'f@example.com' }, theirs)
  usedCode = await requestCode(service, { contact: 'u@example.com' })
  await complete(service.root, VERIFY, await attempt(usedCode))
  lockedCode = await requestCode(service, { contact: 'l@example.com' })
  for (let at = 0; at < 3; at++) await refusalOf(complete(service.root, VERIFY, await attempt(lockedCode, '000000000')))
  await untilMessagesAreNoted(service.dataDir)
})
afterAll(() => service.close())

async function attempt(sent: SentCode, code = sent.code) {
  const encryptedOtpBundle = await encryptCode(service, sent, code, generateP256KeyPair().publicKey)
  return { otpId: sent.otpId, encryptedOtpBundle }
}

const refused = (message: string): Refusal => [400, 3, message, 'REQUEST_INVALID']
const wrong = refused('Invalid OTP code')
const token = (why: string) => refused(`invalid verification token: ${why}`)
const signature = (why: string) => refused(`invalid client signature: ${why}`)
const key = generateP256KeyPair().publicKey
const other = generateP256KeyPair()

type Row = [
  name: string,
  type: ActivityType,
  parameters: () => object | Promise<object>,
  refusal: Refusal | [number, number],
]

const codes: Row[] = [
  ['a code that was used', VERIFY, () => attempt(usedCode), wrong],
  ['a code that is locked', VERIFY, () => attempt(lockedCode), wrong],
  ['a code that has expired', VERIFY, () => attempt(expiredCode), wrong],
  ['a code of another organization', VERIFY, () => attempt(foreignCode), wrong],
  ['a code of nobody', VERIFY, async () => ({ ...(await attempt(encrypted)), otpId: NOBODY }), wrong],
  [
    'a code in clear that was to be encrypted',
    VERIFY_PLAIN,
    () => ({ otpId: encrypted.otpId, otpCode: encrypted.code }),
    wrong,
  ],
  [
    'a code encrypted that was to be in clear',
    VERIFY,
    async () => ({ ...(await attempt(encrypted)), otpId: plainCode.otpId }),
    wrong,
  ],
  [
    'a code for a login that proves a contact',
    'ACTIVITY_TYPE_OTP_AUTH',
    () => ({ otpId: plainCode.otpId, otpCode: plainCode.code, targetPublicKey: other.publicKey }),
    wrong,
  ],
  ['a bundle that is none', VERIFY, () => ({ otpId: encrypted.otpId, encryptedOtpBundle: '{}' }), [400, 3]],
  [
    'a token for longer than a day',
    VERIFY,
    async () => ({ ...(await attempt(encrypted)), expirationSeconds: '86401' }),
    [400, 3],
  ],
  [
    'a code for longer than ten minutes',
    'ACTIVITY_TYPE_INIT_OTP_V3',
    () => ({ otpType: 'OTP_TYPE_EMAIL', contact: EMAIL, appName: 'x', expirationSeconds: '601' }),
    [400, 3],
  ],
  [
    'a code of five characters',
    'ACTIVITY_TYPE_INIT_OTP_V3',
    () => ({ otpType: 'OTP_TYPE_EMAIL', contact: EMAIL, appName: 'x', otpLength: 5 }),
    [400, 3],
  ],
  [
    'a code by WhatsApp',
    'ACTIVITY_TYPE_INIT_OTP_V3',
    () => ({ otpType: 'OTP_TYPE_WHATSAPP', contact: '+4930111111', appName: 'x' }),
    [400, 3],
  ],
  [
    'a contact with a line more',
    'ACTIVITY_TYPE_INIT_OTP_V3',
    () => ({ otpType: 'OTP_TYPE_EMAIL', contact: `${EMAIL}\r\nBcc: x@example.com`, appName: 'x' }),
    [400, 3, 'invalid email address', 'INVALID_EMAIL'],
  ],
]

const logins: Row[] = [
  ['a token that was used', LOGIN, () => loginBy(used, key), token('it was used')],
  ['a token that has expired', LOGIN, () => loginBy(lapsed, key), token('it has expired')],
  [
    'a token of another organization',
    LOGIN,
    () => loginBy(strangers, key),
    token('it was issued for another organization'),
  ],
  [
    'a token that another key signed',
    LOGIN,
    () => loginBy({ ...proof, token: `${proof.token.slice(0, -8)}AAAAAAAA` }, key),
    token('it was not issued by this service'),
  ],
  [
    'a session for a token',
    LOGIN,
    () => ({ ...loginBy(proof, key), verificationToken: 'e30.e30.AA' }),
    token('it was not issued by this service'),
  ],
  [
    'a token whose code came in clear',
    LOGIN,
    () => ({ ...loginBy(proof, key), verificationToken: plain }),
    token('its code was sent in clear (VERIFY_OTP), which this version does not take'),
  ],
  [
    'a bound token without a signature',
    'ACTIVITY_TYPE_OTP_LOGIN',
    () => ({ verificationToken: proof.token, publicKey: key }),
    signature('it is missing'),
  ],
  ['a contact of nobody', LOGIN, () => loginBy(nobodys, key), [404, 5]],
  ['a number of nobody', LOGIN, () => loginBy(sms, key), [404, 5]],
  [
    'a session key that was swapped',
    LOGIN,
    () => ({ ...loginBy(proof, key), publicKey: other.publicKey }),
    signature('its message names another key'),
  ],
  [
    'the signature of another holder',
    LOGIN,
    () => ({ ...loginBy(proof, key), clientSignature: loginBy({ ...proof, key: other }, key).clientSignature }),
    signature('its public key is not that of the verification token'),
  ],
  [
    'the key of the token, and the signature of another',
    LOGIN,
    () => ({
      ...loginBy(proof, key),
      clientSignature: { ...loginBy({ ...proof, key: other }, key).clientSignature, publicKey: proof.key.publicKey },
    }),
    signature('the key of the verification token did not sign its message'),
  ],
  [
    'a signature for another token',
    LOGIN,
    () => loginBy(proof, key, { tokenId: NOBODY }),
    signature('its message names another token'),
  ],
  [
    'a signature for a sign-up',
    LOGIN,
    () => loginBy(proof, key, { type: 'USAGE_TYPE_SIGNUP' }),
    signature('its message is for another use'),
  ],
  [
    'a signature for no key',
    LOGIN,
    () => loginBy(proof, key, { login: {} }),
    signature('its message names another key'),
  ],
  [
    'a member twice',
    LOGIN,
    () => ({
      ...loginBy(proof, key),
      clientSignature: sign(proof, `{"type":"x",${loginBy(proof, key).clientSignature.message.slice(1)}`),
    }),
    signature('its message is no JSON object'),
  ],
  [
    'a signature over the token, for another key',
    LOGIN,
    () => ({ ...loginBy(proof, key), clientSignature: sign(proof, proof.token).signature }),
    signature('without a message it is for the key of the verification token alone'),
  ],
  ['a key that is none', LOGIN, () => loginBy(proof, '02'.padEnd(66, 'f')), [400, 3]],
]

const user = () => ({ userEmail: EMAIL, apiKeys: [newKey()] })
const signUps: Row[] = [
  ['a sign-up with a token that was used', SIGN_UP, () => signUpBy(used, user()), token('it was used')],
  [
    'a sign-up with a token of another contact',
    SIGN_UP,
    () => signUpBy(nobodys, user()),
    token('its contact is not that of exactly one root user'),
  ],
  [
    'a sign-up with a key that was swapped',
    SIGN_UP,
    () => ({ ...signUpBy(proof, user()), rootUsers: signUpBy(proof, user()).rootUsers }),
    signature("its message does not have the request's apiKeys"),
  ],
  [
    'a sign-up with a signature for a login',
    SIGN_UP,
    () => signUpBy(proof, user(), { type: 'USAGE_TYPE_LOGIN' }),
    signature('its message is for another use'),
  ],
  [
    'a sign-up with a signature that says nothing',
    SIGN_UP,
    () => signUpBy(proof, user(), { signupV2: 1 }),
    signature('its message does not say what is signed up'),
  ],
  [
    'a sign-up without a signature',
    SIGN_UP,
    () => ({ ...signUpBy(proof, user()), clientSignature: undefined }),
    signature('it is missing'),
  ],
  [
    'a sign-up with a token whose code came in clear',
    SIGN_UP,
    () => ({ ...signUpBy(proof, user()), verificationToken: plain }),
    token('its code was sent in clear (VERIFY_OTP), which this version does not take'),
  ],
  [
    'an address that another token proves',
    'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
    () => ({ userId: ann, userEmail: EMAIL, verificationToken: nobodys.token }),
    token('it is for another contact'),
  ],
  [
    'an address that a number proves',
    'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
    () => ({ userId: ann, userEmail: EMAIL, verificationToken: sms.token }),
    token('it is for another contact'),
  ],
  [
    'a number that an address proves',
    'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER',
    () => ({ userId: ann, userPhoneNumber: '+4930111111', verificationToken: proof.token }),
    token('it is for another contact'),
  ],
]

const closed: Row[] = [
  [
    'a mailed key where that is off',
    'ACTIVITY_TYPE_EMAIL_AUTH_V3',
    () => ({ email: EMAIL, targetPublicKey: other.publicKey, emailCustomization: { appName: 'x' } }),
    [
      403,
      7,
      'request not authorized: FEATURE_NAME_EMAIL_AUTH is not enabled for this organization',
      'REQUEST_NOT_AUTHORIZED',
    ],
  ],
  [
    'a recovery where that is off',
    'ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2',
    () => ({ email: EMAIL, targetPublicKey: other.publicKey, emailCustomization: { appName: 'x' } }),
    [
      403,
      7,
      'request not authorized: FEATURE_NAME_EMAIL_RECOVERY is not enabled for this organization',
      'REQUEST_NOT_AUTHORIZED',
    ],
  ],
  [
    'a recovery of another user',
    'ACTIVITY_TYPE_RECOVER_USER',
    () => ({
      userId: ann,
      authenticator: {
        authenticatorName: 'x',
        challenge: 'x',
        attestation: { credentialId: 'x', clientDataJson: 'x', attestationObject: 'x', transports: [] },
      },
    }),
    [403, 7, 'request not authorized', 'REQUEST_NOT_AUTHORIZED'],
  ],
]

const abuse = abuseRows('one-time-passcodes', () => service.dataDir)

describe('by one-time passcodes', () => {
  test.each([...codes, ...logins, ...signUps, ...closed])(
    '%s is refused, and changes nothing',
    async (name, type, parameters, refusal) => {
      const intent = await parameters()
      const said = await abuse.refuse(name, () => refusalOf(service.root.submit(type, intent)))
      expect(said.slice(0, refusal.length)).toEqual(refusal)
    },
  )
  abuse.record()

  test('a message whose members stand in another order is the same message', async () => {
    const contact = 'order@example.com'
    await makeUser(service.root, { userEmail: contact })
    const mine = await prove(service, { contact })
    const { publicKey } = generateP256KeyPair()
    const text = `{ "type": "USAGE_TYPE_LOGIN", "login": {"publicKey":"${publicKey}"}, "tokenId":"${claimsOf(mine.token)['id']}" }`
    const login = { verificationToken: mine.token, publicKey, clientSignature: sign(mine, text) }
    expect((await complete(service.root, LOGIN, login)).session).toMatch(/^ey/)
  })

  test('of fifty who guess at once three are counted, and the right code comes too late', async () => {
    const sent = await requestCode(service, { contact: 'race@example.com' })
    const guesses = await Promise.all(Array.from({ length: 50 }, () => attempt(sent, '000000000')))
    const said = await Promise.all(guesses.map((guess) => refusalOf(service.root.submit(VERIFY, guess))))
    expect(said).toEqual(said.map(() => wrong))
    const database = new DatabaseSync(join(service.dataDir, 'quorate.db'), { readOnly: true })
    const row = database.prepare('select failed_attempts, code_hash, sealed_keys from one_time_passcodes where id = ?')
    expect(row.get(sent.otpId)).toEqual({ failed_attempts: 3, code_hash: null, sealed_keys: null })
    database.close()
    expect(await refusalOf(service.root.submit(VERIFY, await attempt(sent)))).toEqual(wrong)
  })

  test('of twenty who use one code, or one token, at once one succeeds', async () => {
    const contact = 'once@example.com'
    await makeUser(service.root, { userEmail: contact })
    const sent = await requestCode(service, { contact })
    const tries = await Promise.all(Array.from({ length: 20 }, () => attempt(sent)))
    const proved = await Promise.allSettled(tries.map((one) => complete(service.root, VERIFY, one)))
    expect(proved.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const mine = await prove(service, { contact })
    const logged = await Promise.allSettled(
      Array.from({ length: 20 }, () => complete(service.root, LOGIN, loginBy(mine, generateP256KeyPair().publicKey))),
    )
    expect(logged.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})
