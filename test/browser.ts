/** A real browser, and passkeys in it by a virtual authenticator (WebAuthn's own automation extension). */
import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Where Chromium is; undefined on a machine without one, where tests that need it are skipped. */
export const browserPath = PLACES.find((path) => existsSync(path))

/** Starts the browser; it is closed by its caller. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath!,
    // Its own sandbox needs rights that a container does not give; the pages are ours.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
}

/** A page whose browser has an authenticator that keeps passkeys and whose user says yes. */
export async function openPageWithPasskeys(browser: Browser): Promise<Page> {
  return (await openPageOfOnePerson(browser)).page
}

/** The same, and a function after which the authenticator has no passkey: the page is somebody else's. */
export async function openPageOfOnePerson(browser: Browser): Promise<{ page: Page; forgetPasskeys(): Promise<void> }> {
  const context = await browser.newContext()
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    page,
    async forgetPasskeys() {
      await devtools.send('WebAuthn.clearCredentials', { authenticatorId })
    },
  }
}
