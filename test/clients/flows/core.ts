import { expect } from 'vitest'
import { makePerson, nonceOf } from '../../service/oauth/stage.ts'
import { codeIn, messageOf } from '../../service/one-time-passcodes/outbox.ts'
import { account, addressOf, type ClientPage, type Contact, type FlowStage, type Flows, phoneOf } from './stage.ts'

const open = (stage: FlowStage) => stage.page('core-page')
const homeOf = async ({ call }: ClientPage) =>
  (await call<{ organizationId: string }>('client.httpClient.getWhoami({})')).organizationId

/** The page of somebody new with a passkey. */
async function signedUp(stage: FlowStage, of: object = {}): Promise<ClientPage> {
  const page = await open(stage)
  await page.forgetPasskeys()
  await page.call('client.signUpWithPasskey(value)', of)
  return page
}

/** Goes in twice: who is new is signed up, and logged in the next time. */
async function goInTwice(page: ClientPage, goIn: () => Promise<{ action: string }>): Promise<void> {
  const times = []
  for (let i = 0; i < 2; i++) times.push([(await goIn()).action, await homeOf(page)])
  const [, home] = times[0]!
  expect(times).toEqual([
    ['SIGNUP', home],
    ['LOGIN', home],
  ])
}

async function completeCode({ service }: FlowStage, { call }: ClientPage, { asked }: Contact) {
  const { result, message } = await messageOf(service, () => call<object>('client.initOtp(value)', asked))
  const code = { ...asked, ...result, otpCode: codeIn(message) }
  return call<{ action: string }>('client.completeOtp(value)', code)
}

/** `@turnkey/core` in a page, against the proxy and the API. */
export const core: Flows = {
  async 'passkey sign-up'(stage) {
    const page = await signedUp(stage)
    expect(await homeOf(page)).not.toBe(stage.service.organizationId)
  },
  async 'passkey login'(stage) {
    const page = await signedUp(stage)
    const home = await homeOf(page)
    await page.call('client.logout()')
    await page.call('client.loginWithPasskey()')
    expect(await homeOf(page)).toBe(home)
  },
  async 'e-mail code'(stage) {
    const page = await open(stage)
    await goInTwice(page, () => completeCode(stage, page, addressOf('core@example.test')))
  },
  async 'SMS code'(stage) {
    const page = await open(stage)
    // One more code for this source address, and no more: whoever logs in was signed up by a backend.
    const phone = phoneOf('+4930555001')
    const { organizationId } = await makePerson(stage.service, [], phone.user)
    expect([(await completeCode(stage, page, phone)).action, await homeOf(page)]).toEqual(['LOGIN', organizationId])
  },
  async OAuth(stage) {
    const page = await open(stage)
    await goInTwice(page, async () => {
      const publicKey = await page.call<string>('client.createApiKeyPair()')
      const oidcToken = await stage.issuer.token({ sub: 'core', nonce: nonceOf(publicKey) })
      return page.call('client.completeOauth(value)', { oidcToken, publicKey, providerName: 'ours' })
    })
  },
  async wallet(stage) {
    const page = await open(stage)
    for (const chain of ['ethereum', 'solana']) {
      const provider = `(await client.fetchWalletProviders('${chain}'))[0]`
      await goInTwice(page, () => page.call(`client.loginOrSignupWithWallet({ walletProvider: ${provider} })`))
    }
  },
  async MFA(stage) {
    const page = await signedUp(stage)
    const { userId } = await page.call<{ userId: string }>('client.httpClient.getWhoami({})')
    const types = ['AUTHENTICATION_TYPE_SESSION', 'AUTHENTICATION_TYPE_PASSKEY']
    await page.call('client.httpClient.createMfaPolicy(value)', {
      userId,
      mfaPolicyName: 'wallets take a passkey',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'",
      requiredAuthenticationMethods: types.map((type) => ({ any: [{ type }] })),
      order: 0,
    })
    const walletId = await page.call<string>('client.createWallet(value)', { walletName: 'w', accounts: [account] })
    expect(await page.call('client.httpClient.getWallet(value)', { walletId })).toMatchObject({ wallet: { walletId } })
  },
  async refresh(stage) {
    const page = await signedUp(stage)
    const home = await homeOf(page)
    const before = await page.call<{ publicKey: string }>('client.getSession()')
    await page.call('client.refreshSession()')
    expect((await page.call<{ publicKey: string }>('client.getSession()')).publicKey).not.toBe(before.publicKey)
    expect(await homeOf(page)).toBe(home)
  },
  async sign(stage) {
    const page = await signedUp(stage, {
      createSubOrgParams: { customWallet: { walletName: 'mine', walletAccounts: [account] } },
    })
    const [wallet] = await page.call<[{ accounts: [object] }]>('client.fetchWallets()')
    const signing = { message: 'hello', walletAccount: wallet.accounts[0] }
    expect(await page.call('client.signMessage(value)', signing)).toMatchObject({
      r: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  },
  async 'log out'(stage) {
    const page = await signedUp(stage)
    await page.call('client.logout()')
    expect(await page.call('client.getSession()')).toBeNull()
  },
}
