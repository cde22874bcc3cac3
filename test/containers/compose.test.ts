/**
 * temporal-docker in real containers: started, used by two people, its containers killed one by one, brought down and up again. Then the
 * image for tests of other software, by the commands of docs/testing.md.
 */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApiKeyStamper } from '@turnkey/api-key-stamper'
import { TurnkeyClient } from '@turnkey/http'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { blocksOf } from '../typed-page.ts'
import { composed, openStage, type Stage, whyNoContainers } from './stage.ts'

const reason = whyNoContainers()
vi.setConfig({ testTimeout: 600_000, hookTimeout: 900_000 })

/** What runs on, and with which address each says that it is well. */
const RUNNING = Object.entries(composed)
  .filter(([, { healthcheck }]) => healthcheck)
  .map(([name]) => name)

describe.skipIf(reason !== undefined)(`containers${reason === undefined ? '' : ` (${reason})`}`, () => {
  let stage: Stage
  const people = { root: '', bob: generateP256KeyPair() }
  let folders: Readonly<Record<string, string>>

  beforeAll(async () => {
    stage = openStage()
    stage.make()
    await stage.up(['ui'])
    const defs = join(stage.folder, 'defs')
    folders = { [defs]: '/definitions' }
    mkdirSync(defs)
    chownSync(defs, 1000, 1000)
  })
  afterAll(() => stage?.close())

  const whoami = () => JSON.parse(stage.quorate({}, 'whoami', '--json').stdout) as Record<string, unknown>

  test('each container that runs on is healthy, is no root, writes nowhere but into its volumes, and has no rights beyond', () => {
    expect(RUNNING).toEqual(['postgres', 'temporal', 'temporal-ui', 'service', 'proxy', 'worker'])
    for (const name of Object.keys(composed)) {
      const { HostConfig, Config } = stage.inspect(name)
      expect([name, HostConfig.ReadonlyRootfs]).toEqual([name, true])
      expect([name, Config.User]).not.toEqual([name, expect.stringMatching(/^(0|root)?(:.*)?$/)])
    }
    for (const name of RUNNING) {
      const status = stage.exec(name, 'cat', '/proc/1/status').stdout
      expect([
        name,
        /^Uid:\s+0\b/m.test(status),
        /^CapEff:\s+0+$/m.test(status),
        /^NoNewPrivs:\s+1$/m.test(status),
      ]).toEqual([name, false, true, true])
      expect([name, stage.exec(name, 'touch', '/written').stderr]).toEqual([name, expect.stringContaining('Read-only')])
    }
  })

  test('passwords and keys are files of those who need them, in no environment that a container was made with', () => {
    const passwords = ['postgres', 'temporal', 'quorate'].map((user) => {
      return stage.exec('postgres', 'cat', `/secrets/postgres/${user}`).stdout.trim()
    })
    expect(new Set(passwords).size).toBe(3)
    for (const password of passwords) expect(password).toMatch(/^[0-9a-f]{48}$/)
    for (const name of Object.keys(composed)) {
      const environment = stage.inspect(name).Config.Env.join('\n')
      for (const password of passwords) expect(environment).not.toContain(password)
      expect(environment).not.toMatch(/PRIVATE KEY/)
    }
    // The worker has its key, and neither the service's folder nor anybody's password.
    expect(stage.exec('worker', 'ls', '/secrets').stdout.split('\n').filter(Boolean).length).toBeGreaterThan(0)
    for (const path of [
      '/service/master.key',
      '/secrets/postgres/quorate',
      '/secrets/quorate-database/passfile',
      '/secrets/service/tls',
    ])
      expect([path, stage.exec('worker', 'cat', path).exit]).toEqual([path, 1])
  })

  test('Temporal answers to who has a certificate of its authority, and to nobody else', () => {
    const ask = (options: string) =>
      stage
        .exec(
          'worker',
          'node',
          '-e',
          `const { readFileSync: read } = require('node:fs'); const at = '/secrets/temporal/tls/'
         const socket = require('node:tls').connect({ host: 'temporal', port: 7233, servername: 'temporal', ALPNProtocols: ['h2'],
           ca: read(at + 'authority.pem'), ${options} }, () => socket.write('PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n'))
         socket.once('data', () => { console.log('answered'); process.exit(0) })
         socket.once('error', () => { console.log('refused'); process.exit(0) })
         socket.once('close', () => console.log('refused'))`,
        )
        .stdout.trim()
    expect(ask(`cert: read(at + 'client.pem'), key: read(at + 'client.key')`)).toBe('answered')
    expect(ask('')).toBe('refused')
  })

  test('the organization is imported and applied by the commands of temporal-docker/README.md, with nothing filled in', () => {
    const [start] = blocksOf('temporal-docker/README.md')
    const commands = start!.text.split('\n').filter((line) => line.includes(' run --rm '))
    expect(commands.length).toBe(2)
    const mine = join(stage.folder, 'definitions/mine')
    mkdirSync(mine, { recursive: true })
    chownSync(mine, 1000, 1000)
    const [imported, applied] = commands.map((line) => stage.type(line.replaceAll('$PWD', stage.folder)))
    expect(imported).toContain('organization.yaml')
    expect(applied).toContain('No changes.')
  })

  test('an apply waits for its second approver while each container is killed and comes back; then all of it is done', async () => {
    const { organizationId, publicKey } = whoami()
    const [defs] = Object.keys(folders)
    const bobKey = join(defs!, 'bob.key')
    writeFileSync(bobKey, people.bob.privateKey, { mode: 0o600 })
    chownSync(bobKey, 1000, 1000)
    writeFileSync(
      join(defs!, 'acme.yaml'),
      `organization: acme
id: ${organizationId}
tags: { treasury: {} }
users:
  root: { apiKeys: { root: { curve: P256, publicKey: ${publicKey} } } }
  bob: { tags: [treasury], apiKeys: { laptop: { curve: P256, publicKey: ${people.bob.publicKey} } } }
rootQuorum: { threshold: 2, users: [root, bob] }
features: { EMAIL_AUTH: true }
`,
    )
    chmodSync(join(defs!, 'acme.yaml'), 0o644)
    const first = stage.quorate(folders, 'apply', '/definitions', '--yes')
    expect([first.exit, first.stdout + first.stderr]).toEqual([3, expect.stringContaining('waits for bob')])

    for (const name of RUNNING) {
      const before = stage.inspect(name).State.Pid
      stage.kill(name)
      await expect.poll(() => stage.inspect(name).State.Pid).not.toBe(before)
      await stage.meets(name, 'service_healthy')
    }
    for (const name of RUNNING) await stage.meets(name, 'service_healthy')
    expect(stage.quorate(folders, 'status').exit).toBe(3)

    const asBob = ['--key-file', '/definitions/bob.key']
    const listed = stage.quorate(folders, 'activities', '--waiting', '--json', ...asBob)
    expect([listed.exit, listed.stdout, listed.stderr]).toEqual([
      0,
      expect.stringContaining('"activities"'),
      expect.any(String),
    ])
    const [{ code }] = JSON.parse(listed.stdout).activities
    const vote = stage.quorate(folders, 'approve', code, '--yes', ...asBob)
    expect([vote.exit, vote.stdout]).toEqual([0, expect.stringContaining('COMPLETED')])
    const status = stage.quorate(folders, 'status', '--follow', '--json')
    expect(JSON.parse(status.stdout).apply.state).toBe('done')
  })

  test('down and up again, everything is there: organization, state, and what the apply came to', async () => {
    const before = whoami()
    stage.down()
    await stage.up(['ui'])
    expect(whoami()).toEqual(before)
    const plan = stage.quorate(folders, 'plan', '/definitions', '--detailed-exitcode')
    expect([plan.exit, plan.stdout]).toEqual([0, expect.stringContaining('No changes.')])
    const status = stage.quorate(folders, 'status', '--json')
    expect(JSON.parse(status.stdout).apply.state).toBe('done')
  })

  test('the image for tests of other software starts, is ready, answers a published client outside, and ends, as docs/testing.md says', async () => {
    // It publishes the same port.
    stage.down()
    const commands = blocksOf('docs/testing.md').filter(({ text }) => text.startsWith('docker '))
    expect(commands.length).toBe(3)
    const [start, keys, end] = commands.map(({ text }) => text)
    stage.type(start!)
    const bootstrap = JSON.parse(stage.type(keys!)) as Record<string, string>
    const { organizationId, apiPublicKey, apiPrivateKey, rootUserId } = bootstrap
    expect(bootstrap).toMatchObject({ baseUrl: 'http://localhost:8181', authProxyUrl: 'http://localhost:8182' })
    const stamper = new ApiKeyStamper({ apiPublicKey: apiPublicKey!, apiPrivateKey: apiPrivateKey! })
    const client = new TurnkeyClient({ baseUrl: bootstrap['baseUrl']! }, stamper)
    expect(await client.getWhoami({ organizationId: organizationId! })).toMatchObject({ userId: rootUserId })
    expect((await fetch(`${bootstrap['authProxyUrl']}/healthz`)).status).toBe(200)
    stage.type('podman healthcheck run quorate; test "$(docker exec quorate id -u)" = 1000')
    expect(Date.parse(/\d{4}-[\d-]+T[\d:.]+Z/.exec(stage.type(end!))![0])).toBeGreaterThan(Date.now() + 24 * 3_600_000)
    await expect(fetch(`${bootstrap['baseUrl']}/readyz`)).rejects.toThrow()
    expect(stage.type('podman ps --all --quiet --filter name=^quorate$').trim()).toBe('')
  })
})
