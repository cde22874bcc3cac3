/** What all flows of logins need: a service with its proxy, an issuer, and the pages of published clients in one browser. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Turnkey, type TurnkeyApiClient } from '@turnkey/sdk-server'
import type { FrameLocator } from 'playwright-core'
import { bundleFor } from '../../../docs/sample/build.ts'
import { browserPath, openBrowser, openPageOfOnePerson } from '../../browser.ts'
import { startIssuer, type TestIssuer } from '../../service/oidc/issuer.ts'
import { type ProxyStage, startProxyStage } from '../../service/proxy/stage.ts'
import { type FrameName, frameFile } from './frames.ts'
import { addWallets } from './wallets.ts'

export const FLOWS = [
  'passkey sign-up',
  'passkey login',
  'e-mail code',
  'SMS code',
  'OAuth',
  'wallet',
  'MFA',
  'refresh',
  'sign',
  'log out',
] as const
export type Flow = (typeof FLOWS)[number]

/** What somebody gets a code at: how a code for it is asked for, and what a user is made with. */
export interface Contact {
  readonly asked: { readonly otpType: 'OTP_TYPE_EMAIL' | 'OTP_TYPE_SMS'; readonly contact: string }
  readonly user: { readonly userEmail: string } | { readonly userPhoneNumber: string }
}

export function addressOf(contact: string): Contact {
  return { asked: { otpType: 'OTP_TYPE_EMAIL', contact }, user: { userEmail: contact } }
}

export function phoneOf(contact: string): Contact {
  return { asked: { otpType: 'OTP_TYPE_SMS', contact }, user: { userPhoneNumber: contact } }
}

/** It works, as this shows, or is shown in another test; or why it does not. */
export type Cell = ((stage: FlowStage) => Promise<void>) | { readonly shownBy: string } | { readonly no: string }
export type Flows = Readonly<Record<Flow, Cell>>

const PAGES = ['core-page', 'sdk-browser-page'] as const
type PageName = (typeof PAGES)[number]

/** A page of a published client. */
export interface ClientPage {
  /** Awaits an expression in the page, in which `value` is what is given. */
  call<Result>(expression: string, value?: unknown): Promise<Result>
  /** Of an iframe by its id. */
  frame(id: string): FrameLocator
  /** Somebody else sits down at it. */
  forgetPasskeys(): Promise<void>
}

export interface FlowStage {
  readonly service: ProxyStage
  readonly issuer: TestIssuer
  /** The page of a client, the same for all flows: its passkeys, wallets and session stay. */
  page(name: PageName): Promise<ClientPage>
  /** Where a frame is served, on another origin than the pages. */
  frameUrl(name: FrameName): string
  /** The published server client, with a key. */
  server(key: { readonly publicKey: string; readonly privateKey: string }, organizationId: string): TurnkeyApiClient
  /** The same with the parent's root key. */
  parent(): TurnkeyApiClient
  close(): Promise<void>
}

export const account = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
} as const

export async function startFlowStage(): Promise<FlowStage> {
  const issuer = await startIssuer('ES256')
  const service = await startProxyStage({ privateIssuers: [issuer.url] })
  await service.set({ allowedAuthMethods: ['passkey', 'email', 'sms', 'oauth', 'wallet'] })
  const server: FlowStage['server'] = (key, organizationId) =>
    new Turnkey({
      apiBaseUrl: service.url,
      apiPublicKey: key.publicKey,
      apiPrivateKey: key.privateKey,
      defaultOrganizationId: organizationId,
      activityPoller: { intervalMs: 1, numRetries: 1 },
    }).apiClient()
  const pages = browserPath ? await startPages(service) : undefined
  return {
    service,
    issuer,
    server,
    parent: () => server(service.root, service.organizationId),
    page: (name) => pages!.open(name),
    frameUrl: (name) => pages!.frameUrl(name),
    async close() {
      await pages?.close()
      await service.close()
      await issuer.close()
    },
  }
}

async function startPages({ service }: ProxyStage) {
  const facts = service.bootstrap as Parameters<typeof bundleFor>[1]
  const scripts = await Promise.all(PAGES.map((page) => bundleFor(join(import.meta.dirname, `${page}.mjs`), facts)))
  const pages = await listen(({ url = '/' }, response) => {
    const script = scripts[PAGES.indexOf(url.slice(1) as PageName)] ?? ''
    const page = `<!doctype html><body><script type="module">${script}</script>`
    response.setHeader('content-type', 'text/html').end(page)
  })
  const frames = await listen(({ url = '/' }, response) => {
    const file = frameFile(url, facts.signerPublicKey)
    if (file) response.setHeader('content-type', file.type).end(file.text)
    else response.writeHead(404).end()
  })
  const browser = await openBrowser()
  const opened = new Map<PageName, Promise<ClientPage>>()

  async function openPage(name: PageName): Promise<ClientPage> {
    const { page, forgetPasskeys } = await openPageOfOnePerson(browser)
    await addWallets(page)
    await page.goto(`${pages.origin}/${name}`)
    await page.waitForFunction('globalThis.client !== undefined')
    return {
      frame: (id) => page.frameLocator(`#${id}`),
      forgetPasskeys,
      // What the client says is about what was tried; what the service answered is the cause.
      call: (expression, value = {}) =>
        page.evaluate(`(async (value) => (await ${expression}) ?? null)(${JSON.stringify(value)}).catch((error) => {
          throw error.cause ? new Error(error.message + ': ' + error.cause.message) : error
        })`),
    }
  }
  return {
    open(name: PageName) {
      const page = opened.get(name) ?? openPage(name)
      opened.set(name, page)
      return page
    },
    frameUrl: (name: FrameName) => `${frames.origin}/${name}/`,
    async close() {
      await browser.close()
      pages.server.close()
      frames.server.close()
    },
  }
}

/** Passkeys belong to a name, and frames keep their key only beside a page of their own site: all are of `localhost`. */
async function listen(answer: RequestListener): Promise<{ readonly server: Server; readonly origin: string }> {
  const server = createServer(answer)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { server, origin: `http://localhost:${(server.address() as AddressInfo).port}` }
}
