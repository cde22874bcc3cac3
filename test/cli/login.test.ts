/** A person logs in, works with their session, and logs out: the CLI as a process, a real browser, the service over a socket. */
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { browserPath, openBrowser, openPageWithPasskeys } from '../browser.ts'
import { complete } from '../service/handlers/steps.ts'
import { startProvider, type TestProvider } from '../service/oauth/provider.ts'
import { codeIn, messageOf } from '../service/one-time-passcodes/outbox.ts'
import { type ProxyStage, startProxyStage } from '../service/proxy/stage.ts'
import { quorate, testFolder } from './harness.ts'
import { startCommand } from './started.ts'

let service: ProxyStage
let provider: TestProvider
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

const start = (args: readonly string[]) => startCommand(args, { env: env(), home: folder })

beforeAll(async () => {
  provider = await startProvider()
  service = await startProxyStage({ privateIssuers: [provider.url] })
  await service.set({ allowedAuthMethods: ['email', 'oauth'] })
  if (browserPath) browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await service.close()
  await provider.close()
})

/** What is known of the service, as its operator hands it out: public keys, and where the proxy is. */
const known = () => ['--service-keys', join(service.dataDir, 'bootstrap.json')]
const user = (userName: string, more: object) => ({
  userName,
  apiKeys: [],
  authenticators: [],
  oauthProviders: [],
  userTags: [],
  ...more,
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

    // What the session alone may not do, the passkey approves.
    const { userId } = session
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'alice',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${userId}')`,
      condition: "activity.resource == 'USER'",
    })
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_MFA_POLICY', {
      userId,
      mfaPolicyName: 'both',
      condition: "activity.resource == 'USER'",
      requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] }],
      order: 1,
    })
    const asked = await service.client(privateKey).submit('ACTIVITY_TYPE_CREATE_USER_TAG', {
      userTagName: 'a',
      userIds: [],
    })
    expect(asked.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED')
    const voting = start(['approve', asked.id, '--yes', '--passkey'])
    await press(await voting.says(/http:\/\/localhost:\S+/))
    expect(await voting.ended).toMatchObject({ exit: 0, stdout: expect.stringMatching(/^Approved .*: now COMPLETED/m) })

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

describe('a code by mail', () => {
  test('logs in; a code that is wrong is asked for again', async () => {
    await complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_OTP_EMAIL_AUTH' })
    const users = [user('erin', { userEmail: 'erin@example.com' })]
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_USERS_V3', { users })
    const logging = start(['login', '--email', 'erin@example.com', '--json', ...known()])
    const { message } = await messageOf(service, () => logging.says(/The code that was sent to erin@example.com/))
    const code = codeIn(message)
    logging.type('WRONGCODE\n')
    await logging.says(/not the code that was sent/)
    logging.type(`${code}\n`)
    const logged = await logging.ended
    expect(logged).toMatchObject({ exit: 0 })
    expect(JSON.parse(logged.stdout)).toMatchObject({ userName: 'erin', organizationId: service.organizationId })
    expect(logged.stdout + logged.stderr).not.toContain(code)
    const { stdout } = await quorate(['whoami', '--json'], { env: env() })
    expect(JSON.parse(stdout)).toMatchObject({ username: 'erin' })
  })

  test('is not typed to a service whose keys are others', async () => {
    const other = { notarizerPublicKey: `04${'11'.repeat(64)}`, tlsFetcherPublicKey: `04${'22'.repeat(64)}` }
    const bootstrap = { ...service.service.bootstrap, ...other, apiPrivateKey: undefined }
    const file = join(folder, 'other.json')
    writeFileSync(file, JSON.stringify(bootstrap))
    const ran = await quorate(['login', '--email', 'erin@example.com', '--service-keys', file], {
      env: env(),
      input: '',
    })
    expect(ran).toMatchObject({ exit: 1 })
    expect(ran.stderr).toContain('session/not-genuine')
    expect(ran.stderr).not.toContain('The code that was sent')
  })
})

describe('an OpenID provider', () => {
  test('logs in the user whom it is registered with; nobody else, and nothing is kept then', async () => {
    const oidcToken = await provider.logIn({ subject: 'frank', nonce: '00'.repeat(32), client: 'wallet-rs256' })
    const claims = { iss: provider.url, sub: 'frank', aud: 'program' }
    const oauthProviders = [
      { providerName: 'acme', oidcToken },
      { providerName: 'acme here', oidcClaims: claims },
    ]
    const users = [user('frank', { oauthProviders })]
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users })
    const log = async (subject: string) => {
      const logging = start(['login', '--oidc', provider.url, '--client-id', 'program', '--json', ...known()])
      const back = await provider.browse(await logging.says(/(http:\/\/127.0.0.1:\d+\/auth\S+)/), subject)
      expect((await fetch(back)).status).toBe(200)
      return logging.ended
    }
    const logged = await log('frank')
    expect(logged).toMatchObject({ exit: 0 })
    expect(JSON.parse(logged.stdout)).toMatchObject({ userName: 'frank', organizationId: service.organizationId })

    const refused = await log('mallory')
    expect(refused).toMatchObject({ exit: 1 })
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'session/refused' } })
    const { stdout } = await quorate(['whoami', '--json'], { env: env() })
    expect(JSON.parse(stdout)).toMatchObject({ username: 'frank' })
  })

  test('logs in by a code that is typed in on another device, where the provider offers that', async () => {
    const log = async (subject: string) => {
      const logging = start([
        'login',
        '--oidc',
        provider.url,
        '--client-id',
        'program',
        '--device',
        '--json',
        ...known(),
      ])
      const page = await logging.says(/(http:\/\/127.0.0.1:\d+\/\S+)/)
      await provider.enterCode(page, await logging.says(/type this code there:\s+(\S+)\n/), subject)
      return logging.ended
    }
    const logged = await log('frank')
    expect(logged).toMatchObject({ exit: 0 })
    expect(JSON.parse(logged.stdout)).toMatchObject({ userName: 'frank', organizationId: service.organizationId })
    const unbound = await log('mallory')
    expect([unbound.exit, unbound.stderr]).toEqual([1, expect.stringContaining('did not bind its token to the key')])
    const refused = await quorate(['login', '--device', '--email', 'frank@example.com'], { env: env() })
    expect(refused.stderr).toContain('expected --device with --oidc')
  })
})

describe('votes by another factor', () => {
  test('what waits for its submitter to log in at a provider is approved by that, in one command', async () => {
    const { privateKey, publicKey } = generateP256KeyPair()
    const oidcToken = await provider.logIn({ subject: 'greta', nonce: '00'.repeat(32), client: 'wallet-rs256' })
    const oauthProviders = [
      { providerName: 'acme', oidcToken },
      { providerName: 'acme here', oidcClaims: { iss: provider.url, sub: 'greta', aud: 'program' } },
    ]
    const apiKeys = [{ apiKeyName: 'k', publicKey, curveType: 'API_KEY_CURVE_P256' }]
    const users = [user('greta', { apiKeys, oauthProviders })]
    const { userIds } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users })
    const userId = userIds[0]!
    const client = service.client(privateKey)
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'greta',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${userId}')`,
      condition: "activity.resource == 'USER'",
    })
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_MFA_POLICY', {
      userId,
      mfaPolicyName: 'both',
      condition: 'true',
      requiredAuthenticationMethods: ['API_KEY', 'OAUTH'].map((type) => ({
        any: [{ type: `AUTHENTICATION_TYPE_${type}` }],
      })),
      order: 1,
    })
    const tag = await client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'g', userIds: [] })
    expect(tag.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED')
    const file = join(folder, 'greta.key')
    writeFileSync(file, JSON.stringify({ privateKey }), { mode: 0o600 })
    const by = ['--oidc', provider.url, '--client-id', 'program']
    const voting = start(['approve', tag.id, '--yes', '--key-file', file, ...by, ...known()])
    const url = await voting.says(/(http:\/\/127.0.0.1:\d+\/auth\S+)/)
    await voting.says(/needs +another factor of greta \(oauth\): greta approves it once more, by that/)
    expect((await fetch(await provider.browse(url, 'greta'))).status).toBe(200)
    expect(await voting.ended).toMatchObject({ exit: 0, stdout: expect.stringMatching(/^Approved .*: now COMPLETED/m) })
  })
})

describe('proxy check', () => {
  test('goes from nothing to a session and a code, and leaves nothing; what fails is named', async () => {
    const origin = 'https://app.example.com'
    await service.set({ allowedOrigins: [origin] })
    const { organizationIds: before } = await service.root.query('list_suborgs', {})
    const walking = start([
      'proxy',
      'check',
      '--yes',
      '--email',
      'new@example.com',
      '--origin',
      origin,
      '--json',
      ...known(),
    ])
    const { message } = await messageOf(service, () => walking.says(/The code that was sent to new@example.com/))
    walking.type(`${codeIn(message)}\n`)
    const walked = await walking.ended
    expect(walked).toMatchObject({ exit: 0 })
    const states = (text: string) =>
      JSON.parse(text).findings.map(({ step, state }: { step: string; state: string }) => `${step}: ${state}`)
    expect(states(walked.stdout)).toEqual(
      ['configuration', 'refusals', 'browsers', 'sign-up', 'look-up', 'login', 'clean-up', 'code'].map(
        (step) => `${step}: good`,
      ),
    )
    expect((await service.root.query('list_suborgs', {})).organizationIds).toEqual(before)

    await service.set({ allowedOrigins: ['https://other.example.com'] })
    const refused = await quorate(['proxy', 'check', '--origin', origin, '--json', ...known()], { env: env() })
    expect(refused).toMatchObject({ exit: 1 })
    expect(states(refused.stdout)).toEqual([
      'configuration: good',
      'refusals: good',
      'browsers: bad',
      'sign-up: not tried',
      'code: not tried',
    ])
    const data = join(folder, 'data-of-doctor')
    mkdirSync(data, { mode: 0o700 })
    symlinkSync(service.dataDir, join(data, 'service'))
    const keys = { QUORATE_DATA_DIR: data, QUORATE_API_KEY: service.root.privateKey }
    const looked = await quorate(['doctor', '--json'], { env: { ...env(), ...keys } })
    const { findings } = JSON.parse(looked.stdout) as { findings: { check: string; state: string; found: string }[] }
    const { proxyUrl, configId } = service
    expect(findings.find(({ check }) => check === 'auth proxy')).toEqual({
      check: 'auth proxy',
      state: 'good',
      found: `${proxyUrl} answers for configuration ${configId}, ways in: email; pages of https://other.example.com may ask`,
    })
    const nobody = await quorate(['proxy', 'check', 'http://127.0.0.1:9', ...known()], { env: env() })
    expect(nobody).toMatchObject({ exit: 1 })
    expect(nobody.stdout).toContain('✗ configuration')
  })
})
