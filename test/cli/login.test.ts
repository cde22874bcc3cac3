/** A person logs in, works with their session, and logs out: the CLI as a process, a real browser, the service over a socket. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { browserPath, openBrowser, openPageWithPasskeys } from '../browser.ts'
import { builtMain, compileCache } from '../built.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { quorate, testFolder } from './harness.ts'

vi.setConfig({ testTimeout: 120_000 })

let service: TestService
let browser: Browser
const folder = testFolder(afterAllFolder)
const env = () => ({
  QUORATE_BASE_URL: service.url,
  QUORATE_ORGANIZATION_ID: service.organizationId,
  QUORATE_DATA_DIR: join(folder, 'data'),
  QUORATE_SESSION_FOLDER: join(folder, 'sessions'),
})

function afterAllFolder(work: () => Promise<void>) {
  afterAll(work)
}

/** A command that goes on while the test does something: what it says, and its end. */
function start(args: readonly string[]) {
  const child = spawn(process.execPath, [builtMain(), ...args], {
    env: { PATH: process.env['PATH'], HOME: folder, CI: 'true', ...compileCache(), ...env() },
    stdio: 'pipe',
  })
  const said = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (part) => {
      said[name] += part
      for (const look of waiting) look()
    })
  }
  const ended = new Promise<{ exit: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once('close', (exit) => resolve({ exit, ...said }))
  })
  return {
    type: (text: string) => child.stdin.write(text),
    kill: () => child.kill('SIGINT'),
    ended,
    /** The first match in what is said on stderr. */
    says: (pattern: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(said.stderr)
          if (found) resolve(found[1] ?? found[0])
        }
        waiting.add(look)
        look()
        void ended.then(({ stderr }) => reject(new Error(`it ended: ${stderr}`)))
      }),
  }
}

beforeAll(async () => {
  service = await startTestService()
  if (browserPath) browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await service.close()
})

describe.skipIf(!browserPath)('a passkey in the browser', () => {
  test('is made, registered, logs in, signs, and the session ends at the API when its user logs out', async () => {
    const page = await openPageWithPasskeys(browser)
    const press = async (url: string) => {
      await page.goto(url)
      await page.getByRole('button').click()
      await page.getByText('Return to the terminal').waitFor()
    }
    const making = start(['login', '--new-passkey', 'laptop', '--json'])
    await press(await making.says(/http:\/\/localhost:\S+/))
    const made = await making.ended
    expect(made).toMatchObject({ exit: 0 })
    const passkey = JSON.parse(made.stdout)

    const alice = await service.root.submit('ACTIVITY_TYPE_CREATE_USERS_V3', {
      users: [
        {
          userName: 'alice',
          apiKeys: [],
          authenticators: [
            {
              authenticatorName: 'laptop',
              challenge: passkey.challenge,
              attestation: {
                credentialId: passkey.credentialId,
                clientDataJson: passkey.attestation.clientDataJson,
                attestationObject: passkey.attestation.attestationObject,
                transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL'],
              },
            },
          ],
          oauthProviders: [],
          userTags: [],
        },
      ],
    })
    expect(alice).toMatchObject({ status: 'ACTIVITY_STATUS_COMPLETED' })

    const logging = start(['login', '--json'])
    await press(await logging.says(/http:\/\/localhost:\S+/))
    const logged = await logging.ended
    expect(logged).toMatchObject({ exit: 0 })
    const session = JSON.parse(logged.stdout)
    expect(session).toMatchObject({ userName: 'alice', organizationId: service.organizationId, keptIn: 'file' })

    // What is kept is the user's alone, and no command prints the key.
    const [file] = readdirSync(join(folder, 'sessions'))
    const path = join(folder, 'sessions', file!)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const { privateKey } = JSON.parse(readFileSync(path, 'utf8'))
    expect(privateKey).toMatch(/^[0-9a-f]{64}$/)

    const who = await quorate(['whoami', '--json'], { env: env() })
    expect(JSON.parse(who.stdout)).toMatchObject({ username: 'alice', publicKey: session.publicKey })
    for (const { stdout, stderr } of [made, logged, who]) expect(stdout + stderr).not.toContain(privateKey)

    expect(await quorate(['logout'], { env: env() })).toMatchObject({ exit: 0, stderr: '' })
    const after = await quorate(['whoami'], { env: env() })
    expect(after).toMatchObject({ exit: 1 })
    expect(after.stderr).toContain('quorate login')
    const again = await quorate(['whoami'], { env: { ...env(), QUORATE_API_KEY: privateKey } })
    expect(again.stderr).toContain('client/unauthenticated')
  })

  test('a page elsewhere cannot answer for it, and a login that nobody finishes ends by Ctrl-C', async () => {
    const logging = start(['login'])
    const url = new URL(await logging.says(/http:\/\/localhost:\S+/))
    const at = `http://127.0.0.1:${url.port}${url.pathname}`
    const post = (headers: Record<string, string>) => fetch(at, { method: 'POST', headers, body: '{}' })
    expect((await fetch(at)).status).toBe(404)
    expect((await post({ origin: url.origin })).status).toBe(404)
    expect((await fetch(url, { method: 'POST', headers: { origin: 'https://evil.example' }, body: '{}' })).status).toBe(
      404,
    )
    expect((await fetch(new URL('/', url))).status).toBe(404)
    logging.kill()
    expect((await logging.ended).stdout).toBe('')
  })
})
