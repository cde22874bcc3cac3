/** The sample app of the documentation, pressed by a person in a real browser, against a service and its proxy. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { recoverMessageAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPage } from '../../docs/sample/build.ts'
import { browserPath, openBrowser, openPageWithPasskeys } from '../browser.ts'
import { codeIn, messageOf } from '../service/one-time-passcodes/outbox.ts'
import { type ProxyStage, startProxyStage } from '../service/proxy/stage.ts'

let service: ProxyStage
let browser: Browser
let host: Server
let origin: string

describe.skipIf(!browserPath)('sample app', () => {
  beforeAll(async () => {
    service = await startProxyStage()
    const html = await buildPage(service.service.bootstrap as Parameters<typeof buildPage>[0])
    host = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html))
    await new Promise<void>((done) => host.listen(0, '127.0.0.1', done))
    // Passkeys belong to a name: browsers make none for an address.
    origin = `http://localhost:${(host.address() as AddressInfo).port}`
    await service.set({ allowedOrigins: [origin], allowedAuthMethods: ['passkey', 'email'] })
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    host?.close()
    await service?.close()
  })

  async function press(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name }).click()
  }

  /** What is shown to somebody who is logged in. */
  async function addressOn(page: Page): Promise<string> {
    const said = page.getByRole('alert').filter({ hasText: /./ })
    await page.getByRole('button', { name: 'Log out' }).or(said).waitFor()
    expect(await page.getByRole('alert').textContent()).toBe('')
    return (await page.locator('#address').textContent())!
  }

  async function signOn(page: Page, message: string): Promise<`0x${string}`> {
    await page.getByLabel('Message').fill(message)
    await press(page, 'Sign')
    const signature = page.locator('#signature:not(:empty)')
    await signature.waitFor()
    return (await signature.textContent()) as `0x${string}`
  }

  async function openPage(): Promise<Page> {
    const page = await openPageWithPasskeys(browser)
    await page.goto(origin)
    return page
  }

  /** The keys that logins gave, as the organization of an address has them. */
  async function sessionsOf(address: string): Promise<readonly string[]> {
    const filter = { filterType: 'WALLET_ACCOUNT_ADDRESS', filterValue: address }
    const [organizationId] = (await service.root.query('list_suborgs', filter)).organizationIds
    const { users } = await service.root.query('list_users', { organizationId })
    return users.flatMap(({ apiKeys }) =>
      apiKeys.filter(({ credential }) => credential.type === 'CREDENTIAL_TYPE_LOGIN').map(({ apiKeyId }) => apiKeyId),
    )
  }

  test('signs a person up by passkey, shows the address, signs, refreshes, logs out, and logs the person in again', async () => {
    const page = await openPage()
    await press(page, 'Sign up with a passkey')
    const address = await addressOn(page)
    const signature = await signOn(page, 'pay ada')
    expect(await recoverMessageAddress({ message: 'pay ada', signature })).toBe(address)

    expect(await sessionsOf(address)).toHaveLength(1)
    await press(page, 'Stay longer')
    await expect.poll(() => sessionsOf(address)).toHaveLength(2)
    await page.locator('#signature:empty').waitFor({ state: 'attached' })
    expect(await recoverMessageAddress({ message: 'again', signature: await signOn(page, 'again') })).toBe(address)
    await page.reload()
    expect(await addressOn(page)).toBe(address)

    await press(page, 'Log out')
    await page.getByRole('button', { name: 'Log in with a passkey' }).waitFor()
    expect(await sessionsOf(address)).toHaveLength(1)
    await press(page, 'Log in with a passkey')
    expect(await addressOn(page)).toBe(address)
  })

  test('signs a person up by a code in an e-mail, and logs the person in by the next; a wrong code is said', async () => {
    const page = await openPage()
    const askForCode = async () => {
      await page.getByLabel('E-mail address').fill('grace@example.test')
      const { message } = await messageOf(service, () => press(page, 'Send me a code'))
      await page.getByLabel('Code').waitFor()
      return codeIn(message)
    }
    const code = await askForCode()
    await page.getByLabel('Code').fill('000000000')
    await press(page, 'Go on')
    await page.getByRole('alert').filter({ hasText: 'OTP code is invalid' }).waitFor()
    await page.getByLabel('Code').fill(code)
    await press(page, 'Go on')
    const address = await addressOn(page)
    const signature = await signOn(page, 'hello')
    expect(await recoverMessageAddress({ message: 'hello', signature })).toBe(address)

    await press(page, 'Log out')
    await page.getByLabel('E-mail address').waitFor()
    expect(await sessionsOf(address)).toEqual([])
    const next = await askForCode()
    await page.getByLabel('Code').fill(next)
    await press(page, 'Go on')
    expect(await addressOn(page)).toBe(address)
  })

  test('a page that the settings do not list signs nobody up, and says so', async () => {
    const page = await openPageWithPasskeys(browser)
    await service.set({ allowedOrigins: ['http://localhost:1'] })
    await page.goto(origin)
    await press(page, 'Sign up with a passkey')
    await page.getByRole('alert').filter({ hasText: 'Failed to sign up with passkey' }).waitFor()
    await service.set({ allowedOrigins: [origin] })
  })

  test('knows nothing of a service but what is public', async () => {
    const html = await (await fetch(origin.replace('localhost', '127.0.0.1'))).text()
    const { apiPrivateKey, tlsFetcherPublicKey } = service.service.bootstrap
    expect(html).toContain(tlsFetcherPublicKey)
    expect(html).not.toContain(apiPrivateKey!.reveal())
  })
})
