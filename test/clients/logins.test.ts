/**
 * Which published client signs people up and logs them in by which flow. What works is tried here; what does not says why. The
 * table of the documentation is made from this one.
 */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Turnkey } from '@turnkey/sdk-server'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundleFor } from '../../docs/sample/build.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { browserPath, openBrowser, openPageWithPasskeys } from '../browser.ts'
import { makePerson, nonceOf } from '../service/oauth/stage.ts'
import { startIssuer, type TestIssuer } from '../service/oidc/issuer.ts'
import { codeIn, encryptCode, loginBy, messageOf } from '../service/one-time-passcodes/outbox.ts'
import { type ProxyStage, startProxyStage } from '../service/proxy/stage.ts'

let service: ProxyStage
let issuer: TestIssuer
let browser: Browser | undefined
let host: Server
let origin: string
beforeAll(async () => {
  issuer = await startIssuer('ES256')
  service = await startProxyStage({ privateIssuers: [issuer.url] })
  await service.set({ allowedAuthMethods: ['passkey', 'email', 'oauth'] })
  if (!browserPath) return
  const facts = service.service.bootstrap as Parameters<typeof bundleFor>[1]
  const pages = ['core-page', 'sdk-browser-page']
  const scripts = await Promise.all(pages.map((page) => bundleFor(join(import.meta.dirname, `${page}.mjs`), facts)))
  host = createServer(({ url }, response) => {
    const script = scripts[pages.indexOf(url!.slice(1))] ?? ''
    response.setHeader('content-type', 'text/html').end(`<!doctype html><script type="module">${script}</script>`)
  })
  await new Promise<void>((done) => host.listen(0, '127.0.0.1', done))
  origin = `http://localhost:${(host.address() as AddressInfo).port}`
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  host?.close()
  await service?.close()
  await issuer?.close()
})

const account = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
} as const

/** A page whose `client` is called by what stands in a text. */
async function openClient(of: 'core-page' | 'sdk-browser-page' = 'core-page') {
  const page: Page = await openPageWithPasskeys(browser!)
  await page.goto(`${origin}/${of}`)
  await page.waitForFunction('globalThis.client !== undefined')
  const call = <Result>(expression: string, value: unknown = {}) =>
    page.evaluate(`(async (value) => (await ${expression}) ?? null)(${JSON.stringify(value)})`) as Promise<Result>
  const whoami = () => call<{ organizationId: string }>('client.httpClient.getWhoami({})')
  return { call, whoami }
}

async function signedUp() {
  const client = await openClient()
  await client.call('client.signUpWithPasskey(value)', {
    createSubOrgParams: { customWallet: { walletName: 'mine', walletAccounts: [account] } },
  })
  return client
}

/** With the older browser client the page makes a passkey, a backend the organization; the session is of the passkey. */
async function loggedInByOlder() {
  const { call } = await openClient('sdk-browser-page')
  const { encodedChallenge: challenge, attestation } = await call<{ encodedChallenge: string; attestation: object }>(
    'passkey.createUserPasskey({})',
  )
  const home = await makePerson(service, [], {
    authenticators: [{ authenticatorName: 'laptop', challenge, attestation }],
  })
  await call('session.resetKeyPair()')
  await call("passkey.loginWithPasskey({ publicKey: await session.getPublicKey(), expirationSeconds: '900' })")
  const whoami = () => call<object>('session.getWhoami(value)', { organizationId: home.organizationId })
  expect(await whoami()).toMatchObject(home)
  return { call, whoami, home }
}

/** Goes in by a code from the outbox: signs up who is new, and logs in who is not. */
async function goInByCode({ call }: Awaited<ReturnType<typeof openClient>>, contact: string): Promise<string> {
  const of = { otpType: 'OTP_TYPE_EMAIL', contact }
  const { result, message } = await messageOf(service, () => call<object>('client.initOtp(value)', of))
  const entered = { ...of, ...result, otpCode: codeIn(message) }
  return (await call<{ action: string }>('client.completeOtp(value)', entered)).action
}

const onServer = (key: { readonly publicKey: string; readonly privateKey: string }, organizationId: string) =>
  new Turnkey({
    apiBaseUrl: service.url,
    apiPublicKey: key.publicKey,
    apiPrivateKey: key.privateKey,
    defaultOrganizationId: organizationId,
    activityPoller: { intervalMs: 1, numRetries: 1 },
  }).apiClient()
const parent = () => onServer(service.root, service.organizationId)

const FLOWS = [
  'passkey sign-up',
  'passkey login',
  'e-mail code',
  'OAuth',
  'wallet',
  'refresh',
  'sign',
  'log out',
] as const
type Flow = (typeof FLOWS)[number]
/** It works, as this shows, or is shown in another test; or why it does not. */
type Cell = (() => Promise<void>) | { readonly shownBy: string } | { readonly no: string }

const languages: Record<Flow, Cell> = {
  'passkey sign-up': { no: 'no authenticator' },
  'passkey login': { no: 'no authenticator' },
  'e-mail code': { no: 'not tried' },
  OAuth: { shownBy: 'languages.test.ts' },
  wallet: { no: 'not tried' },
  refresh: { no: 'not tried: `stamp_login` is, by a key that is no session' },
  sign: { no: 'not tried' },
  'log out': { no: 'not tried' },
}
const everyFlow = (no: string) => Object.fromEntries(FLOWS.map((flow) => [flow, { no }])) as Record<Flow, Cell>

const clients: Record<string, Record<Flow, Cell>> = {
  '`@turnkey/core` 2.8 in Chromium': {
    'passkey sign-up': async () => {
      const { call, whoami } = await openClient()
      await call('client.signUpWithPasskey({})')
      expect((await whoami()).organizationId).not.toBe(service.organizationId)
    },
    'passkey login': async () => {
      const { call, whoami } = await signedUp()
      const { organizationId } = await whoami()
      await call('client.logout()')
      await call('client.loginWithPasskey()')
      expect((await whoami()).organizationId).toBe(organizationId)
    },
    'e-mail code': async () => {
      const client = await openClient()
      expect(await goInByCode(client, 'core@example.test')).toBe('SIGNUP')
      const { organizationId } = await client.whoami()
      expect(await goInByCode(client, 'core@example.test')).toBe('LOGIN')
      expect((await client.whoami()).organizationId).toBe(organizationId)
    },
    OAuth: async () => {
      const { call, whoami } = await openClient()
      const goIn = async () => {
        const publicKey = await call<string>('client.createApiKeyPair()')
        const oidcToken = await issuer.token({ sub: 'core', nonce: nonceOf(publicKey) })
        const entered = { oidcToken, publicKey, providerName: 'ours' }
        const { action } = await call<{ action: string }>('client.completeOauth(value)', entered)
        return [action, (await whoami()).organizationId]
      }
      const [first, home] = await goIn()
      expect(first).toBe('SIGNUP')
      expect(await goIn()).toEqual(['LOGIN', home])
    },
    wallet: { no: 'not tried: it asks for a wallet in the browser' },
    refresh: async () => {
      const { call, whoami } = await signedUp()
      const before = await call<{ publicKey: string }>('client.getSession()')
      await call('client.refreshSession()')
      expect((await call<{ publicKey: string }>('client.getSession()')).publicKey).not.toBe(before.publicKey)
      expect((await whoami()).organizationId).not.toBe(service.organizationId)
    },
    sign: async () => {
      const { call } = await signedUp()
      const [wallet] = await call<[{ accounts: [object] }]>('client.fetchWallets()')
      const signing = { message: 'hello', walletAccount: wallet.accounts[0] }
      expect(await call('client.signMessage(value)', signing)).toMatchObject({
        r: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
    },
    'log out': async () => {
      const { call } = await signedUp()
      await call('client.logout()')
      expect(await call('client.getSession()')).toBeNull()
    },
  },
  '`@turnkey/sdk-server` 8.2': {
    'passkey sign-up': { no: 'runs on servers' },
    'passkey login': { no: 'runs on servers' },
    'e-mail code': async () => {
      const contact = 'server@example.test'
      const home = await makePerson(service, [], { userEmail: contact })
      const of = { otpType: 'OTP_TYPE_EMAIL', contact, appName: 'Acme' }
      const { result, message } = await messageOf(service, () => parent().initOtp(of))
      const { otpId, otpEncryptionTargetBundle: bundle } = result
      const [key, session] = [generateP256KeyPair(), generateP256KeyPair()]
      const sent = { otpId, bundle, code: codeIn(message) }
      const encryptedOtpBundle = await encryptCode(service, sent, sent.code, key.publicKey)
      const { verificationToken: token } = await parent().verifyOtp({ otpId, encryptedOtpBundle })
      const login = loginBy({ token, key }, session.publicKey)
      await parent().otpLogin({ organizationId: home.organizationId, ...login } as never)
      expect(await onServer(session, home.organizationId).getWhoami()).toMatchObject(home)
    },
    OAuth: async () => {
      const session = generateP256KeyPair()
      const home = await makePerson(service, [await issuer.token({ sub: 'server' })])
      const oidcToken = await issuer.token({ sub: 'server', nonce: nonceOf(session.publicKey) })
      const { organizationId } = home
      await parent().oauthLogin({ organizationId, oidcToken, publicKey: session.publicKey })
      expect(await onServer(session, organizationId).getWhoami()).toMatchObject(home)
    },
    wallet: { no: 'runs on servers' },
    refresh: async () => {
      const [old, next] = [generateP256KeyPair(), generateP256KeyPair()]
      await parent().stampLogin({ publicKey: old.publicKey })
      await onServer(old, service.organizationId).stampLogin({ publicKey: next.publicKey })
      expect(await onServer(next, service.organizationId).getWhoami()).toMatchObject({ userId: service.rootUserId })
    },
    sign: async () => {
      const session = generateP256KeyPair()
      await parent().stampLogin({ publicKey: session.publicKey })
      const client = onServer(session, service.organizationId)
      const { addresses } = await client.createWallet({ walletName: 'of a session', accounts: [account] })
      const signed = await client.signRawPayload({
        signWith: addresses[0]!,
        payload: 'hello',
        encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      })
      expect(signed.r).toMatch(/^[0-9a-f]{64}$/)
    },
    'log out': async () => {
      const session = generateP256KeyPair()
      await parent().stampLogin({ publicKey: session.publicKey })
      const client = onServer(session, service.organizationId)
      const { apiKeys } = await client.getApiKeys({ userId: service.rootUserId })
      const { apiKeyId } = apiKeys.find(({ credential }) => credential.publicKey === session.publicKey)!
      await client.deleteApiKeys({ userId: service.rootUserId, apiKeyIds: [apiKeyId] })
      await expect(client.getWhoami()).rejects.toThrow('could not find public key')
    },
  },
  '`@turnkey/sdk-browser` 8.2 in Chromium': {
    'passkey sign-up': async () => void (await loggedInByOlder()),
    'passkey login': async () => void (await loggedInByOlder()),
    'e-mail code': { no: 'not tried' },
    OAuth: { no: 'not tried' },
    wallet: { no: 'not tried: it asks for a wallet in the browser' },
    refresh: async () => {
      const { call, whoami, home } = await loggedInByOlder()
      const before = await call<string>('session.getPublicKey()')
      await call('session.refreshSession()')
      expect(await call('session.getPublicKey()')).not.toBe(before)
      expect(await whoami()).toMatchObject(home)
    },
    sign: async () => {
      const { call, home } = await loggedInByOlder()
      const { organizationId } = home
      const wallet = { organizationId, walletName: 'mine', accounts: [account] }
      const { addresses } = await call<{ addresses: string[] }>('session.createWallet(value)', wallet)
      const encoding = 'PAYLOAD_ENCODING_TEXT_UTF8'
      const signing = { organizationId, signWith: addresses[0], payload: 'hello', encoding }
      const signed = await call('session.signRawPayload(value)', {
        ...signing,
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      })
      expect(signed).toMatchObject({ r: expect.stringMatching(/^[0-9a-f]{64}$/) })
    },
    'log out': async () => {
      const { call } = await loggedInByOlder()
      expect(await call('client.getSession()')).not.toBeNull()
      await call('client.logout()')
      expect(await call('client.getSession()')).toBeNull()
    },
  },
  '`@turnkey/iframe-stamper` 2.11': {
    ...everyFlow('its key is in a page of the public service'),
    'e-mail code': {
      no: 'only the bundles that its page opens',
    },
  },
  Python: languages,
  Rust: languages,
  Go: { ...languages, OAuth: { no: 'not tried' }, refresh: { no: 'not tried' } },
}

describe('logins by published clients', () => {
  for (const [client, flows] of Object.entries(clients)) {
    for (const flow of FLOWS) {
      const cell = flows[flow]
      if (typeof cell !== 'function') continue
      test.skipIf(client.includes('Chromium') && !browserPath)(`${client}: ${flow}`, cell)
    }
  }

  test('the table of the documentation says what is tried here', () => {
    const said = (cell: Cell) => (typeof cell === 'function' ? 'yes' : 'no' in cell ? cell.no : 'yes')
    const rows = Object.entries(clients).map(([name, flows]) => [name, ...FLOWS.map((flow) => said(flows[flow]))])
    const lines = [['client', ...FLOWS], ['', ...FLOWS].map(() => '---'), ...rows].map(
      (row) => `| ${row.join(' | ')} |`,
    )
    expect(readFileSync(join(import.meta.dirname, '../../docs/clients.md'), 'utf8')).toContain(lines.join('\n'))
  })
})
