/** What goes wrong outside: each case has its message, its next step and its exit code, and nothing is submitted. */
import { chmodSync, existsSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { countActivities, environmentOf, quorate, quorateShared, testFolder, writeFiles } from './harness.ts'

const good = `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
tags: { treasury: {} }
`

let service: TestService
let before: number
beforeAll(async () => {
  service = await startTestService()
  before = await countActivities(service)
})
afterAll(() => service.close())

/** Definitions that must be refused, what is marked, and what is said; each is told what to do next. */
const definitions: readonly { name: string; files: Record<string, string>; says: readonly string[] }[] = [
  {
    name: 'a tab in YAML',
    files: { 'a.yaml': `${good}users:\n\talice: {}\n` },
    says: ['a.yaml:5:1: error definitions/tab', 'spaces'],
  },
  {
    name: 'an unknown key',
    files: { 'a.yaml': `${good}polices: {}\n` },
    says: ['a.yaml:4:1: error definitions/unknown-key', '`polices`', 'did you mean `policies`?'],
  },
  {
    name: 'a duplicate key',
    files: { 'a.yaml': `${good}tags: {}\n` },
    says: ['a.yaml:4:1: error definitions/duplicate-key'],
  },
  {
    name: 'a word where a number is expected',
    files: { 'a.yaml': `${good}rootQuorum: { threshold: two, users: [root] }\n` },
    says: ['a.yaml:4:26: error definitions/wrong-type'],
  },
  {
    name: 'a curve that no format has',
    files: {
      'a.yaml': `${good}wallets:\n  w:\n    accounts:\n      - { path: "m/44'/501'/0'/0'", curve: secp256k1, format: solana }\n`,
    },
    says: ['a.yaml:7:44: error resources/curve-does-not-fit', 'ed25519 for Solana'],
  },
  {
    name: 'a wrong type',
    files: { 'a.yaml': `${good}rootQuorum: { threshold: two, users: [] }\n` },
    says: ['a.yaml:4:26: error definitions/wrong-type'],
  },
  {
    name: 'an unknown name',
    files: { 'a.yaml': `${good}users: { bob: { tags: [tresury] } }\n` },
    says: ['error definitions/unknown-name', 'tresury', 'did you mean `treasury`?'],
  },
  {
    name: 'a cycle of former names',
    files: { 'a.yaml': good.replace('{ treasury: {} }', '{ a: { renamedFrom: b }, b: { renamedFrom: a } }') },
    says: ['a.yaml:3:', 'error definitions/rename-cycle'],
  },
  {
    name: 'a missing environment variable',
    files: { 'a.yaml': good.replace('ACME_ORGANIZATION_ID', 'NO_SUCH_VARIABLE') },
    says: ['a.yaml:2:5: error definitions/missing-env', 'NO_SUCH_VARIABLE'],
  },
]

describe('bad input: definitions', () => {
  for (const { name, files, says } of definitions) {
    test(`${name} is reported at its place, and the plan exits with 1`, async () => {
      const folder = testFolder()
      const ran = await quorate(['plan', writeFiles(join(folder, 'defs'), files)], {
        env: environmentOf(service, folder, service.root.privateKey),
      })
      for (const text of says) expect(ran.stderr).toContain(text)
      expect(ran.stderr.match(/^ +help: /gm)).toHaveLength(ran.stderr.match(/^\S+:\d+:\d+: error /gm)!.length)
      expect(ran.exit).toBe(1)
    })
  }

  // In the embedded service: no base URL is given.
  for (const words of [
    'plan',
    'unmanaged',
    'apply --yes',
    'policy backtest',
    'watch add',
    'send --to a --amount 1eth',
  ]) {
    test(`${words}: a folder that is not there is told before anything is brought up`, async () => {
      const dataDir = join(testFolder(), 'data')
      const ran = await quorateShared([...words.split(' '), '/nowhere'], { env: { QUORATE_DATA_DIR: dataDir } })
      expect(ran.stderr).toContain('error cli/no-definitions')
      // Nothing is said to begin that cannot.
      expect(ran.stdout + ran.stderr).toMatch(/^error /)
      expect(ran.exit).toBe(1)
      expect(existsSync(dataDir)).toBe(false)
    })
  }

  test('a file that cannot be read makes the whole plan an error', async () => {
    const folder = testFolder()
    const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': good })
    symlinkSync(join(folder, 'gone.yaml'), join(defs, 'b.yaml'))
    const ran = await quorate(['plan', defs], { env: environmentOf(service, folder, service.root.privateKey) })
    expect(ran.stderr).toContain('error definitions/unreadable')
    expect(ran.stderr).toContain('b.yaml')
    expect(ran.exit).toBe(1)
  })

  test('several mistakes are reported at once', async () => {
    const folder = testFolder()
    const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': `${good}polices: {}\n`, 'b.yaml': 'userz: {}\n' })
    const ran = await quorate(['validate', defs, '--json'], {
      env: environmentOf(service, folder, service.root.privateKey),
    })
    expect(
      JSON.parse(ran.stdout).diagnostics.map(({ path, code }: { path: string; code: string }) => [
        path.slice(-6),
        code,
      ]),
    ).toEqual([
      ['a.yaml', 'definitions/unknown-key'],
      ['b.yaml', 'definitions/unknown-key'],
    ])
    expect(ran.exit).toBe(1)
  })

  test('an id of another organization is refused before anything is read', async () => {
    const folder = testFolder()
    const defs = writeFiles(join(folder, 'defs'), {
      'a.yaml': good.replace('${env.ACME_ORGANIZATION_ID}', '5b0a2f2e-0e0f-4f5e-9f0e-2b7d0d7a1c11'),
    })
    const ran = await quorate(['plan', defs], { env: environmentOf(service, folder, service.root.privateKey) })
    expect(ran.stderr).toContain('error cli/other-organization')
    expect(ran.exit).toBe(1)
  })
})

describe('bad input: the world outside', () => {
  const plan = async (env: (folder: string) => Readonly<Record<string, string>>) => {
    const folder = testFolder()
    return quorate(['plan', writeFiles(join(folder, 'defs'), { 'a.yaml': good })], { env: env(folder) })
  }

  test('a key that the organization does not know is named, with the organization', async () => {
    const stranger = generateP256KeyPair()
    const ran = await plan((folder) => environmentOf(service, folder, stranger.privateKey))
    expect(ran.stderr).toContain('error client/unauthenticated')
    expect(ran.stderr).toContain(stranger.publicKey)
    expect(ran.stderr).toContain(service.organizationId)
    expect(ran.stderr).not.toContain(stranger.privateKey)
    expect(ran.exit).toBe(1)
  })

  test('a key file that others may read is refused, and what to do is said', async () => {
    const ran = await plan((folder) => {
      const env = environmentOf(service, folder, service.root.privateKey)
      chmodSync(env['QUORATE_API_KEY_FILE']!, 0o644)
      return env
    })
    expect(ran.stderr).toContain('error stamp/key-exposed')
    expect(ran.stderr).toContain('chmod 600')
    expect(ran.exit).toBe(1)
  })

  test('two keys at once are refused: one of them would sign as the wrong user', async () => {
    const ran = await plan((folder) =>
      environmentOf(service, folder, service.root.privateKey, { QUORATE_API_KEY: service.root.privateKey }),
    )
    expect(ran.stderr).toContain('error config/several-keys')
    expect(ran.stderr).not.toContain(service.root.privateKey)
    expect(ran.exit).toBe(1)
  })

  test('a service that is down is an error that names its address', async () => {
    const ran = await plan((folder) =>
      environmentOf(service, folder, service.root.privateKey, { QUORATE_BASE_URL: 'http://127.0.0.1:9' }),
    )
    expect(ran.stderr).toContain('error client/unreachable')
    expect(ran.stderr).toContain('http://127.0.0.1:9')
    expect(ran.exit).toBe(1)
  })

  test('an answer that is no JSON is an error, never an empty organization', async () => {
    const page = createServer((_, answer) => answer.end('<html>')).listen(0, '127.0.0.1')
    onTestFinished(() => void page.close())
    await new Promise((resolve) => page.once('listening', resolve))
    const baseUrl = `http://127.0.0.1:${(page.address() as AddressInfo).port}`
    const ran = await plan((folder) =>
      environmentOf(service, folder, service.root.privateKey, { QUORATE_BASE_URL: baseUrl }),
    )
    expect(ran.stderr).toMatch(/error client\//)
    expect(ran.exit).toBe(1)
  })

  test('a live name that two things have is reported with both ids', async () => {
    for (const _ of [1, 2])
      await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'twin', userIds: [] })
    before += 2
    const folder = testFolder()
    const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': `${good}`.replace('treasury', 'twin') })
    const ran = await quorate(['plan', defs], { env: environmentOf(service, folder, service.root.privateKey) })
    const { userTags } = await service.root.query('list_user_tags')
    for (const { tagId } of userTags.filter(({ tagName }) => tagName === 'twin')) expect(ran.stderr).toContain(tagId)
    expect(ran.stderr).toContain('error plan/ambiguous')
    expect(ran.exit).toBe(1)
  })

  test('Temporal being down is an error that names its address', async () => {
    const folder = testFolder()
    const ran = await quorate(['apply', writeFiles(join(folder, 'defs'), { 'a.yaml': good }), '--yes'], {
      env: environmentOf(service, folder, service.root.privateKey, { TEMPORAL_ADDRESS: '127.0.0.1:9' }),
    })
    expect(ran.stderr).toContain('error worker/temporal-unreachable')
    expect(ran.stderr).toContain('127.0.0.1:9')
    expect(ran.exit).toBe(1)
  })

  test('a plan that cannot be written, as on a full disk, is an error that names the file', async () => {
    const folder = testFolder()
    const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': good })
    const ran = await quorate(['plan', defs, '--out', '/dev/full'], {
      env: environmentOf(service, folder, service.root.privateKey),
    })
    expect(ran.stderr).toContain('error cli/unwritable')
    expect(ran.stderr).toContain('/dev/full')
    expect(ran.exit).toBe(1)
  })

  test('nobody to ask and no --yes: nothing is submitted', async () => {
    const folder = testFolder()
    const ran = await quorate(['apply', writeFiles(join(folder, 'defs'), { 'a.yaml': good })], {
      env: environmentOf(service, folder, service.root.privateKey),
    })
    expect(ran.stderr).toContain('error cli/not-confirmed')
    expect(ran.exit).toBe(1)
  })
})

describe('bad input: nothing is half-done', () => {
  test('none of the above has submitted anything', async () => {
    expect(await countActivities(service)).toBe(before)
  })
})

describe('definitions of an organization that lives elsewhere, and a data folder without a service', () => {
  const ID = '7c244a54-083f-4745-98d0-7111fa0c8852'
  const above = () => {
    const folder = testFolder()
    writeFiles(join(folder, 'definitions/mine'), { 'a.yaml': `organization: acme\nid: ${ID}\n` })
    return { folder, cwd: join(folder, 'definitions') }
  }

  test.each([
    ['plan', 'mine'],
    ['apply', 'mine', '--yes'],
    ['import', 'mine'],
    ['unmanaged', 'mine'],
    ['watch', 'add', 'mine'],
    ['push', 'mine'],
  ])('%s %s starts nothing, and says where it is', async (...args) => {
    const { folder, cwd } = above()
    const none = await quorate(args, { cwd })
    expect([none.exit, none.stderr]).toEqual([1, expect.stringContaining('error cli/no-service-here')])
    expect(none.stderr).toContain('--base-url and --organization-id')
    writeFiles(join(folder, '.quorate/service'), { 'bootstrap.json': JSON.stringify({ organizationId: ID }) })
    chmodSync(join(folder, '.quorate/service/bootstrap.json'), 0o600)
    const found = await quorate(args, { cwd })
    expect([found.exit, found.stderr]).toEqual([1, expect.stringMatching(/next +give --data-dir \.\.\/\.quorate, or/)])
    // Another organization above is of no use.
    writeFiles(join(folder, '.quorate/service'), { 'bootstrap.json': JSON.stringify({ organizationId: 'other' }) })
    expect((await quorate(args, { cwd })).stderr).toContain('--base-url and --organization-id')
    expect(existsSync(join(cwd, '.quorate'))).toBe(false)
  })
})
