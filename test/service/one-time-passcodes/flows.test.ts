/** Proving a contact and what it serves for, over a socket, with the functions of the published clients. */
import {
  decryptCredentialBundle,
  generateP256KeyPair as generatePublished,
  verifyOtpVerificationToken,
  verifySessionJwtSignature,
} from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { complete, fresh, invalid, makeUser, newKey, refusalOf } from '../handlers/steps.ts'
import { createTestClock, startTestService, type TestService } from '../harness.ts'
import { createPasskey } from '../passkey.ts'
import {
  claimsOf,
  codeIn,
  encryptCode,
  loginBy,
  messageOf,
  prove,
  requestCode,
  type SentCode,
  signUpBy,
} from './outbox.ts'

// The published reader of tokens knows no clock but the machine's.
const clock = createTestClock(Date.now())
let service: TestService
beforeAll(async () => {
  service = await startTestService({ clock })
  for (const name of ['EMAIL_AUTH', 'OTP_EMAIL_AUTH', 'SMS_AUTH', 'EMAIL_RECOVERY'])
    await complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: `FEATURE_NAME_${name}` })
})
afterAll(() => service.close())

const newEmail = () => `${fresh('ann')}@example.com`
const wrong = invalid('Invalid OTP code')

describe('codes', () => {
  test('a code is sent, proved encrypted as published clients do, and the token is read by them', async () => {
    const contact = `${fresh('Ann')}@Example.com`
    const { token, key } = await prove(service, { contact, expirationSeconds: '600' })
    const claims = await verifyOtpVerificationToken(token, service.service.bootstrap.tlsFetcherPublicKey)
    expect(claims).toMatchObject({
      contact: contact.toLowerCase(),
      organization_id: service.organizationId,
      verification_type: 'OTP_TYPE_EMAIL',
      public_key: key.publicKey,
      exp: String(clock() + 3_600_000),
    })
  })

  test.each([
    ['of nine letters and digits, unless asked otherwise', {}, /^[0-9A-HJKMNP-TV-Z]{9}$/],
    ['of six digits', { otpLength: 6, alphanumeric: false }, /^[0-9]{6}$/],
    ['of seven letters and digits', { otpLength: 7 }, /^[0-9A-HJKMNP-TV-Z]{7}$/],
  ])('a code is %s', async (_, parameters, form) => {
    expect((await requestCode(service, { contact: newEmail(), ...parameters })).code).toMatch(form)
  })

  test('a code may be typed in small letters, with blanks, and with letters for the digits that they look like', async () => {
    const sent = await requestCode(service, { contact: newEmail() })
    const typed = sent.code
      .toLowerCase()
      .replaceAll('0', 'o')
      .replaceAll('1', 'l')
      .replace(/^(...)/, '$1 - ')
    const encryptedOtpBundle = await encryptCode(service, sent, typed, generateP256KeyPair().publicKey)
    const verified = complete(service.root, 'ACTIVITY_TYPE_VERIFY_OTP_V2', { otpId: sent.otpId, encryptedOtpBundle })
    expect((await verified).verificationToken).toMatch(/^ey/)
  })

  test('the older protocols take the code in clear, and bind the token only where a key is named', async () => {
    for (const type of ['ACTIVITY_TYPE_INIT_OTP', 'ACTIVITY_TYPE_INIT_OTP_V2'] as const) {
      const contact = '+49 30 1234567'
      const { result, message } = await messageOf(service, () =>
        complete(service.root, type, { otpType: 'OTP_TYPE_SMS', contact, appName: 'Acme' }),
      )
      expect(message).toMatchObject({ kind: 'sms', to: '+49301234567' })
      const intent = { otpId: result.otpId, otpCode: codeIn(message) }
      const publicKey = type === 'ACTIVITY_TYPE_INIT_OTP' ? undefined : generateP256KeyPair().publicKey
      const { verificationToken } = await complete(service.root, 'ACTIVITY_TYPE_VERIFY_OTP', { ...intent, publicKey })
      expect(claimsOf(verificationToken)['public_key']).toBe(publicKey)
      expect(await refusalOf(complete(service.root, 'ACTIVITY_TYPE_VERIFY_OTP', intent))).toEqual(wrong)
    }
  })

  test('three wrong tries lock a code, and its keys are gone', async () => {
    const sent = await requestCode(service, { contact: newEmail() })
    const { publicKey } = generateP256KeyPair()
    const attempt = async (code: string) =>
      complete(service.root, 'ACTIVITY_TYPE_VERIFY_OTP_V2', {
        otpId: sent.otpId,
        encryptedOtpBundle: await encryptCode(service, sent, code, publicKey),
      })
    for (let at = 0; at < 3; at++) expect(await refusalOf(attempt('000000000'))).toEqual(wrong)
    expect(await refusalOf(attempt(sent.code))).toEqual(wrong)
  })

  test('a code expires, and newer ones push out those beyond three', async () => {
    const contact = newEmail()
    const codes: SentCode[] = []
    for (let at = 0; at < 4; at++) codes.push(await requestCode(service, { contact, expirationSeconds: '10' }))
    const attempt = async (sent: (typeof codes)[number]) =>
      complete(service.root, 'ACTIVITY_TYPE_VERIFY_OTP_V2', {
        otpId: sent.otpId,
        encryptedOtpBundle: await encryptCode(service, sent, sent.code, generateP256KeyPair().publicKey),
      })
    expect(await refusalOf(attempt(codes[0]!))).toEqual(wrong)
    expect((await attempt(codes[1]!)).verificationToken).toMatch(/^ey/)
    clock.advance(10_000)
    expect(await refusalOf(attempt(codes[2]!))).toEqual(wrong)
  })

  test('one end user asks for three codes in three minutes, whatever the contact, and one contact for ten in ten', async () => {
    const refused = [400, 3, 'Max number of OTPs have been initiated please wait and try again', 'MAX_OTP_INITIATED']
    const ask = (parameters: object) =>
      complete(service.root, 'ACTIVITY_TYPE_INIT_OTP_V3', { otpType: 'OTP_TYPE_EMAIL', appName: 'Acme', ...parameters })
    const userIdentifier = fresh('device')
    for (let at = 0; at < 3; at++) await ask({ contact: newEmail(), userIdentifier })
    expect(await refusalOf(ask({ contact: newEmail(), userIdentifier }))).toEqual(refused)
    clock.advance(180_000)
    await ask({ contact: newEmail(), userIdentifier })
    const contact = newEmail()
    for (let at = 0; at < 10; at++) await ask({ contact })
    expect(await refusalOf(ask({ contact: contact.toUpperCase() }))).toEqual(refused)
  })
})

describe('what a proved contact serves for', () => {
  test.each(['ACTIVITY_TYPE_OTP_LOGIN', 'ACTIVITY_TYPE_OTP_LOGIN_V2'] as const)(
    'a login, %s: a session that published clients verify, once',
    async (type) => {
      const contact = newEmail()
      const userId = await makeUser(service.root, { userEmail: contact })
      const proof = await prove(service, { contact })
      const { publicKey, privateKey } = generateP256KeyPair()
      const intent = loginBy(proof, publicKey)
      const { session } = await complete(service.root, type, intent)
      expect(await verifySessionJwtSignature(session, service.service.bootstrap.notarizerPublicKey)).toBe(true)
      expect(claimsOf(session)).toMatchObject({ user_id: userId, public_key: publicKey })
      expect(await service.client(privateKey).query('whoami')).toMatchObject({ userId })
      const again = complete(service.root, type, { ...intent, invalidateExisting: true })
      expect(await refusalOf(again)).toEqual(invalid('invalid verification token: it was used'))
    },
  )

  test('a sign-up, in both versions, whose contact counts as verified; and a login inside', async () => {
    for (const type of [
      'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7',
      'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
    ] as const) {
      const contact = newEmail()
      const proof = await prove(service, { contact })
      const key = newKey()
      const made = await complete(service.root, type, signUpBy(proof, { userEmail: contact, apiKeys: [key] }))
      const found = await service.root.query('list_verified_suborgs', { filterType: 'EMAIL', filterValue: contact })
      expect(found).toEqual({ organizationIds: [made.subOrganizationId] })
      const { publicKey, privateKey } = generateP256KeyPair()
      const login = loginBy(await prove(service, { contact }), publicKey)
      await complete(service.root, 'ACTIVITY_TYPE_OTP_LOGIN_V2', login, made.subOrganizationId)
      const inside = await service.client(privateKey).query('whoami')
      expect(inside).toMatchObject({ organizationId: made.subOrganizationId, userId: made.rootUserIds![0] })
    }
  })

  test('a token that signed somebody up logs them in once more, where it signed them up, and does nothing else', async () => {
    const contact = newEmail()
    const before = await prove(service, { contact })
    const elsewhere = await complete(
      service.root,
      'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8',
      signUpBy(before, { userEmail: contact, apiKeys: [newKey()] }),
    )
    const proof = await prove(service, { contact })
    const signUp = signUpBy(proof, { userEmail: contact, apiKeys: [newKey()] })
    const made = await complete(service.root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', signUp)
    const used = invalid('invalid verification token: it was used')
    const logIn = (organizationId: string) => {
      const parameters = loginBy(proof, generateP256KeyPair().publicKey)
      return service.root.submit('ACTIVITY_TYPE_OTP_LOGIN_V2', parameters, { organizationId })
    }
    expect(await refusalOf(logIn(elsewhere.subOrganizationId))).toEqual(used)
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', signUp))).toEqual(used)
    expect(await logIn(made.subOrganizationId)).toMatchObject({ status: 'ACTIVITY_STATUS_COMPLETED' })
    expect(await refusalOf(logIn(made.subOrganizationId))).toEqual(used)
  })

  test('a new address and a new number of a user', async () => {
    const userId = await makeUser(service.root)
    const userEmail = newEmail()
    const mail = await prove(service, { contact: userEmail })
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_USER_EMAIL', {
      userId,
      userEmail,
      verificationToken: mail.token,
    })
    const userPhoneNumber = '+4930777777'
    const sms = await prove(service, { otpType: 'OTP_TYPE_SMS', contact: userPhoneNumber })
    const change = { userId, userPhoneNumber, verificationToken: sms.token }
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER', change)
    expect((await service.root.query('get_user', { userId })).user).toMatchObject({ userEmail, userPhoneNumber })
    const again = service.root.submit('ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER', change)
    expect(await refusalOf(again)).toEqual(invalid('invalid verification token: it was used'))
  })
})

describe('the older logins', () => {
  test.each([
    ['ACTIVITY_TYPE_INIT_OTP_AUTH', {}],
    ['ACTIVITY_TYPE_INIT_OTP_AUTH_V2', { otpLength: 6, alphanumeric: false }],
    ['ACTIVITY_TYPE_INIT_OTP_AUTH_V3', { appName: 'Acme' }],
  ] as const)('otp_auth after %s gives a credential bundle that the published function opens', async (type, more) => {
    const contact = newEmail()
    const userId = await makeUser(service.root, { userEmail: contact })
    const { result, message } = await messageOf(service, () =>
      complete(service.root, type, { otpType: 'OTP_TYPE_EMAIL', contact, ...more }),
    )
    const target = generatePublished()
    const intent = { otpId: result.otpId, otpCode: codeIn(message), targetPublicKey: target.publicKeyUncompressed }
    const { credentialBundle } = await complete(service.root, 'ACTIVITY_TYPE_OTP_AUTH', intent)
    const privateKey = decryptCredentialBundle(credentialBundle!, target.privateKey)
    expect(await service.client(privateKey).query('whoami')).toMatchObject({ userId })
    expect(await refusalOf(complete(service.root, 'ACTIVITY_TYPE_OTP_AUTH', { ...intent }))).toEqual(wrong)
  })

  test.each(['ACTIVITY_TYPE_EMAIL_AUTH', 'ACTIVITY_TYPE_EMAIL_AUTH_V2', 'ACTIVITY_TYPE_EMAIL_AUTH_V3'] as const)(
    'email_auth, %s, mails a link with a bundle',
    async (type) => {
      const contact = newEmail()
      const userId = await makeUser(service.root, { userEmail: contact })
      const target = generatePublished()
      const { message } = await messageOf(service, () =>
        complete(service.root, type, {
          email: contact,
          targetPublicKey: target.publicKeyUncompressed,
          emailCustomization: { appName: 'A & B', magicLinkTemplate: 'https://app.example.com/auth?bundle=%s' },
        }),
      )
      expect(message).toMatchObject({ kind: 'email', to: contact, subject: 'Log in to A & B' })
      const bundle = /bundle=(\w+)/.exec(message.text)![1]!
      const privateKey = decryptCredentialBundle(bundle, target.privateKey)
      expect(await service.client(privateKey).query('whoami')).toMatchObject({ userId })
      expect('html' in message && message.html).toContain('A &#38; B')
    },
  )

  test.each(['ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY', 'ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2'] as const)(
    'a recovery key of %s recovers its user, and is good for nothing else',
    async (type) => {
      const contact = newEmail()
      const userId = await makeUser(service.root, { userEmail: contact })
      const target = generatePublished()
      const { message } = await messageOf(service, () =>
        complete(service.root, type, {
          email: contact,
          targetPublicKey: target.publicKeyUncompressed,
          emailCustomization: { appName: 'Acme' },
        }),
      )
      const bundle = /code:\s+(\w+)\n/.exec(message.text)![1]!
      const recovery = service.client(decryptCredentialBundle(bundle, target.privateKey))
      const refused = [403, 7, 'request not authorized', 'REQUEST_NOT_AUTHORIZED']
      expect(await refusalOf(recovery.query('whoami'))).toEqual(refused)
      expect(
        await refusalOf(recovery.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'x', userIds: [] })),
      ).toEqual(refused)
      const intent = { userId, authenticator: createPasskey().register() }
      const { authenticatorId } = await complete(recovery, 'ACTIVITY_TYPE_RECOVER_USER', intent)
      const { user } = await service.root.query('get_user', { userId })
      expect(user?.authenticators?.map((one) => one.authenticatorId)).toEqual(authenticatorId)
    },
  )
})
