import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { Secret } from '../../../src/telemetry/index.ts'
import { createTestClock } from '../harness.ts'
import { claimsOf, codeIn, encryptCode, loginBy, messageOf, type Proof, sign } from '../one-time-passcodes/outbox.ts'
import { newSignUp, type ProxyStage, said, startProxyStage } from './stage.ts'

let stage: ProxyStage
/** A captcha service: what it answers, and what it was asked. */
let captcha: { status: number; text: string }
const asked: string[] = []
const server = createServer((request, response) => {
  request.setEncoding('utf8').on('data', (text: string) => asked.push(text))
  request.on('end', () => response.writeHead(captcha.status).end(captcha.text))
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/siteverify`
  stage = await startProxyStage({ proxy: { captcha: { secret: new Secret('captcha-secret'), url, siteKey: 'site' } } })
})
afterAll(async () => {
  await stage.close()
  await new Promise((resolve) => server.close(resolve))
})

/** Proves an e-mail address through the proxy alone. */
async function prove(contact: string): Promise<Proof> {
  const { result, message } = await messageOf(stage, () =>
    stage.post('otp_init_v2', { otpType: 'OTP_TYPE_EMAIL', contact }),
  )
  const { otpId, otpEncryptionTargetBundle: bundle } = result.body as {
    otpId: string
    otpEncryptionTargetBundle: string
  }
  const key = generateP256KeyPair()
  const code = codeIn(message)
  const encryptedOtpBundle = await encryptCode(stage, { otpId, bundle, code }, code, key.publicKey)
  const { body } = await stage.post('otp_verify_v2', { otpId, encryptedOtpBundle })
  return { token: String(body['verificationToken']), key }
}

function signUpBy(proof: Proof, userEmail: string) {
  const request = newSignUp({ userEmail, verificationToken: proof.token })
  const { apiKeys, authenticators, oauthProviders } = request
  const signupV2 = { apiKeys, authenticators, oauthProviders, email: userEmail }
  const message = { signupV2, tokenId: claimsOf(proof.token)['id'], type: 'USAGE_TYPE_SIGNUP' }
  return { ...request, clientSignature: sign(proof, message) }
}

describe('proxy: codes', () => {
  test('proxy: codes: by e-mail from nothing to a session, the account found by its contact', async () => {
    const email = 'ada@acme.test'
    const made = await stage.post('signup_v2', signUpBy(await prove(email), email))
    expect([made.status, made.body['message']]).toEqual([200, undefined])
    const { organizationId, userId } = made.body
    const proof = await prove(email)
    const { publicKey } = generateP256KeyPair()
    const login = await stage.post('otp_login_v2', loginBy(proof, publicKey))
    expect([login.status, login.body['message']]).toEqual([200, undefined])
    expect(claimsOf(String(login.body['session']))).toMatchObject({
      organization_id: organizationId,
      user_id: userId,
      public_key: publicKey,
    })
    expect(said(await stage.post('otp_login_v2', loginBy(proof, publicKey)))).toEqual([
      400,
      3,
      'invalid verification token: it was used',
    ])
  })

  test('proxy: codes: nobody is logged in to the parent, and nobody who is not there', async () => {
    const proof = await prove('bob@acme.test')
    const { publicKey } = generateP256KeyPair()
    const login = loginBy(proof, publicKey)
    const refused = [404, 5, 'no account found']
    expect(said(await stage.post('otp_login_v2', login))).toEqual(refused)
    expect(said(await stage.post('otp_login_v2', { ...login, organizationId: stage.organizationId }))).toEqual(refused)
  })

  test('proxy: codes: a contact proved by one is not that of another', async () => {
    const sent = await stage.post('signup_v2', signUpBy(await prove('eve@acme.test'), 'victim@acme.test'))
    expect(sent.status).toBe(400)
    expect((await stage.post('account', { filterType: 'EMAIL', filterValue: 'victim@acme.test' })).body).toEqual({})
  })

  test('proxy: codes: three to a contact in three minutes, and three from an address', async () => {
    const ask = (contact: string, from: Readonly<Record<string, string>> = {}) =>
      stage.post('otp_init', { otpType: 'OTP_TYPE_EMAIL', contact }, from)
    const tooMany = [400, 3, 'Max number of OTPs have been initiated please wait and try again']
    for (let i = 0; i < 3; i++) expect((await ask('cy@acme.test')).status).toBe(200)
    expect(said(await ask('CY@acme.test'))).toEqual(tooMany)
    const from = { 'x-forwarded-for': '192.0.2.9' }
    for (let i = 0; i < 3; i++) expect((await ask(`dee-${i}@acme.test`, from)).status).toBe(200)
    expect(said(await ask('dee-3@acme.test', from))).toEqual(tooMany)
  })

  test('proxy: codes: an operator may have more of one address, all of which work, and time that is set counts', async () => {
    const clock = createTestClock()
    const office = await startProxyStage({ proxy: { codesPerAddress: 5 }, clock })
    try {
      const from = { 'x-forwarded-for': '192.0.2.9' }
      const ask = (contact: string) => office.post('otp_init', { otpType: 'OTP_TYPE_EMAIL', contact }, from)
      const sent = []
      for (const name of ['a', 'b', 'c', 'd', 'e']) sent.push(await messageOf(office, () => ask(`${name}@acme.test`)))
      expect(sent.map(({ result }) => result.status)).toEqual([200, 200, 200, 200, 200])
      const tooMany = [400, 3, 'Max number of OTPs have been initiated please wait and try again']
      expect(said(await ask('f@acme.test'))).toEqual(tooMany)
      const [first] = sent
      const { otpId } = first!.result.body as { otpId: string }
      const verified = await office.post('otp_verify', { otpId, otpCode: codeIn(first!.message) })
      expect([verified.status, verified.body['message']]).toEqual([200, undefined])
      clock.advance(180_000)
      expect((await ask('f@acme.test')).status).toBe(200)
      // Who is no proxy has the published number.
      const one = (n: number) =>
        office.root.submit('ACTIVITY_TYPE_INIT_OTP_V3', {
          ...{ otpType: 'OTP_TYPE_EMAIL', contact: `g${n}@acme.test`, appName: 'x', userIdentifier: 'somebody' },
        })
      for (let n = 0; n < 3; n++) await one(n)
      await expect(one(3)).rejects.toMatchObject({ status: 400 })
    } finally {
      await office.close()
    }
  })

  test('proxy: codes: a method that is not offered is refused', async () => {
    await stage.set({ allowedAuthMethods: ['passkey'] })
    const sent = await stage.post('otp_init', { otpType: 'OTP_TYPE_EMAIL', contact: 'x@acme.test' })
    expect(said(sent)).toEqual([403, 7, 'auth method not enabled'])
    await stage.set({ allowedAuthMethods: [] })
  })
})

describe('proxy: captcha', () => {
  beforeAll(() => stage.set({ captchaEnabled: true }))
  afterAll(() => stage.set({ captchaEnabled: false }))
  const solved = { 'x-captcha-token': 'token-1' }
  const up = (headers: Readonly<Record<string, string>>) => stage.post('signup_v2', newSignUp(), headers)
  const failed = [400, 3, 'captcha verification failed']

  test('proxy: captcha: it is asked for, and the kit is told how to show it', async () => {
    expect(said(await up({}))).toEqual([400, 3, 'X-Captcha-Token header is required when captcha is enabled'])
    expect((await stage.post('wallet_kit_client_params', undefined)).body).toEqual({ turnstileSiteKey: 'site' })
    expect((await stage.post('account', { filterType: 'NAME', filterValue: 'x' })).status).toBe(200)
  })

  test.each([
    { name: 'solved', answer: { status: 200, text: '{"success":true}' }, passes: true },
    { name: 'not solved', answer: { status: 200, text: '{"success":false}' }, passes: false },
    { name: 'down', answer: { status: 503, text: 'down' }, passes: true },
    { name: 'no JSON', answer: { status: 200, text: '<html>' }, passes: true },
    { name: 'lying about success', answer: { status: 200, text: '{"success":"false"}' }, passes: true },
  ])('proxy: captcha: $name', async ({ answer, passes }) => {
    captcha = answer
    const sent = await up(solved)
    if (passes) expect(sent.status).toBe(200)
    else expect(said(sent)).toEqual(failed)
    const { secret, response } = Object.fromEntries(new URLSearchParams(asked.at(-1)))
    expect([secret, response]).toEqual(['captcha-secret', 'token-1'])
  })
})
