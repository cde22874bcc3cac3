import { expect } from 'vitest'
import { makePerson, nonceOf } from '../../service/oauth/stage.ts'
import { codeIn, messageOf } from '../../service/one-time-passcodes/outbox.ts'
import { makePersonWithPasskey, makePersonWithWallet, openAnew, signWith } from './sdk-browser.ts'
import { account, addressOf, type ClientPage, type Contact, type FlowStage, type Flows, phoneOf } from './stage.ts'

type Home = Awaited<ReturnType<typeof makePerson>>

/** The page with an iframe that has a new key, and that key. */
async function withFrame(stage: FlowStage) {
  const page = await openAnew(stage)
  await page.call("openFrame('frame', value)", stage.frameUrl('auth'))
  await page.call('frame.clearEmbeddedKey()')
  return { page, targetPublicKey: await page.call<string>('frame.initEmbeddedKey()') }
}

/** The frame opens the bundle with its key, and stamps with what was in it. */
async function logInWith({ call }: ClientPage, bundle: string, { organizationId, userId }: Home): Promise<void> {
  await call('frame.loginWithBundle(value)', { bundle })
  expect(await call('frame.getWhoami(value)', { organizationId })).toMatchObject({ organizationId, userId })
}

/** Logged in by what another client of the page stamps. */
async function logInBy(stage: FlowStage, client: 'passkey' | 'wallet') {
  const { page, targetPublicKey } = await withFrame(stage)
  const home = await (client === 'passkey' ? makePersonWithPasskey : makePersonWithWallet)(stage, page)
  const { organizationId } = home
  const of = { organizationId, targetPublicKey }
  const { credentialBundle } = await page.call<{ credentialBundle: string }>(
    `${client}.createReadWriteSession(value)`,
    of,
  )
  await logInWith(page, credentialBundle, home)
  return { page, home }
}

async function logInByCode(stage: FlowStage, { asked, user }: Contact): Promise<void> {
  const { page, targetPublicKey } = await withFrame(stage)
  const home = await makePerson(stage.service, [], user)
  const { organizationId } = home
  const of = { organizationId, ...asked, appName: 'Acme' }
  const { result, message } = await messageOf(stage.service, () => stage.parent().initOtpAuth(of))
  const code = { organizationId, otpId: result.otpId, otpCode: codeIn(message), targetPublicKey }
  await logInWith(page, (await stage.parent().otpAuth(code)).credentialBundle!, home)
}

/** `@turnkey/iframe-stamper`, by `@turnkey/sdk-browser`, with the published page of its key on another origin. */
export const iframeStamper: Flows = {
  'passkey sign-up': { no: 'stamps with keys of sessions alone' },
  'passkey login': async (stage) => void (await logInBy(stage, 'passkey')),
  'e-mail code': (stage) => logInByCode(stage, addressOf('frame@example.test')),
  'SMS code': (stage) => logInByCode(stage, phoneOf('+4930555004')),
  async OAuth(stage) {
    const { page, targetPublicKey } = await withFrame(stage)
    const home = await makePerson(stage.service, [await stage.issuer.token({ sub: 'frame' })])
    const oidcToken = await stage.issuer.token({ sub: 'frame', nonce: nonceOf(targetPublicKey) })
    const { organizationId } = home
    const { credentialBundle } = await stage.parent().oauth({ organizationId, oidcToken, targetPublicKey })
    await logInWith(page, credentialBundle, home)
  },
  wallet: async (stage) => void (await logInBy(stage, 'wallet')),
  MFA: { no: 'as its API client does' },
  async refresh(stage) {
    const { page, home } = await logInBy(stage, 'passkey')
    await page.call('frame.refreshSession()')
    expect(await page.call('frame.getWhoami(value)', home)).toMatchObject(home)
  },
  async sign(stage) {
    const { page, home } = await logInBy(stage, 'passkey')
    await signWith(page, 'frame', home)
  },
  async 'log out'(stage) {
    const { page, home } = await logInBy(stage, 'passkey')
    await page.call('client.logout()')
    await page.call('frame.clearEmbeddedKey()')
    expect(await page.call('client.getSession()')).toBeNull()
    expect(home).toBeDefined()
  },
}

/** A wallet is shown in one frame, and typed into another: the page between them sees only what is encrypted. */
export async function carryWallet(stage: FlowStage): Promise<void> {
  const { page, home } = await logInBy(stage, 'passkey')
  const { organizationId, userId } = home
  const wallet = { organizationId, walletName: 'mine', accounts: [account] }
  const made = await page.call<{ walletId: string; addresses: string[] }>('frame.createWallet(value)', wallet)

  await page.call("openFrame('shown', value)", stage.frameUrl('export'))
  const targetPublicKey = await page.call<string>('shown.iframePublicKey')
  const { exportBundle } = await page.call<{ exportBundle: string }>('frame.exportWallet(value)', {
    organizationId,
    walletId: made.walletId,
    targetPublicKey,
  })
  const injecting = 'shown.injectWalletExportBundle(value.exportBundle, value.organizationId)'
  expect(await page.call(injecting, { exportBundle, organizationId })).toBe(true)
  const words = (await page.frame('shown').locator('#key-div').textContent())!.trim()
  expect(words.split(' ')).toHaveLength(12)

  await page.call('frame.deleteWallets(value)', { organizationId, walletIds: [made.walletId] })
  await page.call("openFrame('typed', value)", stage.frameUrl('import/dist'))
  const { importBundle } = await page.call<{ importBundle: string }>('frame.initImportWallet(value)', {
    organizationId,
    userId,
  })
  const target = { importBundle, organizationId, userId }
  await page.call('typed.injectImportBundle(value.importBundle, value.organizationId, value.userId)', target)
  await page.frame('typed').locator('#plaintext').fill(words)
  const encryptedBundle = await page.call('typed.extractWalletEncryptedBundle()')
  const imported = await page.call('frame.importWallet(value)', { ...wallet, userId, encryptedBundle })
  expect(imported).toMatchObject({ addresses: made.addresses })
}
