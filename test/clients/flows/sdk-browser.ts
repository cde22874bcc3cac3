import { expect } from 'vitest'
import { makePerson, nonceOf } from '../../service/oauth/stage.ts'
import { loginBy, prove } from '../../service/one-time-passcodes/outbox.ts'
import { account, addressOf, type ClientPage, type Contact, type FlowStage, type Flows, phoneOf } from './stage.ts'

type Home = Awaited<ReturnType<typeof makePerson>>

/** The page as somebody finds it who sits down at it: a session that is kept would say for whom its client asks. */
export async function openAnew(stage: FlowStage): Promise<ClientPage> {
  const page = await stage.page('sdk-browser-page')
  await page.forgetPasskeys()
  await page.call('client.logout()')
  return page
}

/** A person with a passkey that the page has made; the organization is made by a backend. */
export async function makePersonWithPasskey(stage: FlowStage, page: ClientPage): Promise<Home> {
  const { encodedChallenge: challenge, attestation } = await page.call<{
    encodedChallenge: string
    attestation: object
  }>('passkey.createUserPasskey({})')
  const authenticators = [{ authenticatorName: 'laptop', challenge, attestation }]
  return makePerson(stage.service, [], { authenticators })
}

/** A person whom the wallet in the browser logs in. */
export async function makePersonWithWallet(stage: FlowStage, page: ClientPage): Promise<Home> {
  const publicKey = await page.call<string>('wallet.getPublicKey()')
  const apiKeys = [{ apiKeyName: 'wallet', publicKey, curveType: 'API_KEY_CURVE_SECP256K1' }]
  return makePerson(stage.service, [], { apiKeys })
}

async function expectSessionOf({ call }: ClientPage, { organizationId, userId }: Home): Promise<void> {
  expect(await call('session.getWhoami(value)', { organizationId })).toMatchObject({ organizationId, userId })
}

/** The public key of the session to come. */
async function newSessionKey({ call }: ClientPage): Promise<string> {
  await call('session.resetKeyPair()')
  return call('session.getPublicKey()')
}

async function logInByPasskey(stage: FlowStage) {
  const page = await openAnew(stage)
  const home = await makePersonWithPasskey(stage, page)
  const publicKey = await newSessionKey(page)
  await page.call('passkey.loginWithPasskey(value)', { publicKey, expirationSeconds: '900' })
  await expectSessionOf(page, home)
  return { page, home }
}

async function logInByCode(stage: FlowStage, { asked, user }: Contact): Promise<void> {
  const page = await openAnew(stage)
  const home = await makePerson(stage.service, [], user)
  const proof = await prove(stage.service, asked)
  const { organizationId } = home
  const login = loginBy(proof, await newSessionKey(page))
  const { session } = await stage.parent().otpLogin({ organizationId, ...login } as never)
  await page.call('session.loginWithSession(value)', session)
  await expectSessionOf(page, home)
}

/** `@turnkey/sdk-browser` in a page, with a backend for what needs the parent's key. */
export const sdkBrowser: Flows = {
  'passkey sign-up': async (stage) => void (await logInByPasskey(stage)),
  'passkey login': async (stage) => void (await logInByPasskey(stage)),
  'e-mail code': (stage) => logInByCode(stage, addressOf('browser@example.test')),
  'SMS code': (stage) => logInByCode(stage, phoneOf('+4930555003')),
  async OAuth(stage) {
    const page = await openAnew(stage)
    const home = await makePerson(stage.service, [await stage.issuer.token({ sub: 'browser' })])
    const publicKey = await newSessionKey(page)
    const oidcToken = await stage.issuer.token({ sub: 'browser', nonce: nonceOf(publicKey) })
    const { organizationId } = home
    const { session } = await stage.parent().oauthLogin({ organizationId, oidcToken, publicKey })
    await page.call('session.loginWithSession(value)', session)
    await expectSessionOf(page, home)
  },
  async wallet(stage) {
    const page = await openAnew(stage)
    const home = await makePersonWithWallet(stage, page)
    const publicKey = await newSessionKey(page)
    await page.call('wallet.loginWithWallet(value)', { publicKey, expirationSeconds: '900' })
    await expectSessionOf(page, home)
  },
  async MFA(stage) {
    const { page, home } = await logInByPasskey(stage)
    const { organizationId, userId } = home
    const types = ['AUTHENTICATION_TYPE_SESSION', 'AUTHENTICATION_TYPE_PASSKEY']
    await page.call('session.createMfaPolicy(value)', {
      organizationId,
      userId,
      mfaPolicyName: 'wallets take a passkey',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'",
      requiredAuthenticationMethods: types.map((type) => ({ any: [{ type }] })),
      order: 0,
    })
    const { activity } = await page.call<{ activity: { status: string; fingerprint: string } }>(
      'session.createWallet(value)',
      { organizationId, walletName: 'w', accounts: [account] },
    )
    const { status, fingerprint } = activity
    expect(status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED')
    expect(await page.call('passkey.approveActivity(value)', { organizationId, fingerprint })).toMatchObject({
      activity: { status: 'ACTIVITY_STATUS_COMPLETED' },
    })
  },
  async refresh(stage) {
    const { page, home } = await logInByPasskey(stage)
    const before = await page.call<string>('session.getPublicKey()')
    await page.call('session.refreshSession()')
    expect(await page.call('session.getPublicKey()')).not.toBe(before)
    await expectSessionOf(page, home)
  },
  async sign(stage) {
    const { page, home } = await logInByPasskey(stage)
    await signWith(page, 'session', home)
  },
  async 'log out'(stage) {
    const { page } = await logInByPasskey(stage)
    expect(await page.call('client.getSession()')).not.toBeNull()
    await page.call('client.logout()')
    expect(await page.call('client.getSession()')).toBeNull()
  },
}

/** Makes a wallet and signs with it, both stamped by a client of the page. */
export async function signWith({ call }: ClientPage, client: string, { organizationId }: Home): Promise<void> {
  const wallet = { organizationId, walletName: 'mine', accounts: [account] }
  const { addresses } = await call<{ addresses: string[] }>(`${client}.createWallet(value)`, wallet)
  const signed = await call(`${client}.signRawPayload(value)`, {
    organizationId,
    signWith: addresses[0],
    payload: 'hello',
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  })
  expect(signed).toMatchObject({ r: expect.stringMatching(/^[0-9a-f]{64}$/) })
}
