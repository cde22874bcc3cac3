/** What every command promises: help with an example, JSON on stdout, colour only where it is wanted. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isColoured } from '../../src/cli/colour.ts'
import { commands } from '../../src/cli/commands/index.ts'
import type { Style } from '../../src/cli/io.ts'
import { ONE_PASS } from '../../src/cli/one-pass.ts'
import { readCommandLine } from '../../src/cli/program.ts'
import { EXIT } from '../../src/diagnostics/index.ts'
import { builtMain } from '../built.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import {
  createOneProcess,
  environmentOf,
  keyFile,
  quorateShared as quorate,
  testFolder,
  writeFiles,
} from './harness.ts'

const visible = commands.filter(({ hidden }) => !hidden)

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const style = { error: String, warning: String, strong: String } as unknown as Style

const lineOf = (argv: readonly string[]) => readCommandLine(argv, { version: '0', style, out: () => {}, say: () => {} })

describe('help', () => {
  test('lists every command; the page of one has its example', async () => {
    const { stdout, exit } = await quorate(['--help'])
    expect(exit).toBe(0)
    for (const { name } of visible) expect(stdout).toContain(name.split(' ')[0])
    // What every page says is tried by `help.test.ts`, without a process for each.
    const page = await quorate(['sends', 'replace', '--help'])
    expect(page.exit).toBe(0)
    expect(page.stdout).toContain('--json')
    expect(page.stdout).toContain(`$ ${visible.find(({ name }) => name === 'sends replace')!.example}`)
  })

  test('a command that does not exist is refused with the nearest one', async () => {
    const { stderr, exit } = await quorate(['plam'])
    expect(stderr).toContain('did you mean `plan`?')
    expect(exit).toBe(1)
  })

  test.for([
    [['plan', '--detaild'], 'did you mean `--detailed-exitcode`?'],
    [['key', 'new', 'x.pem', '--curv', 'p256'], 'did you mean `--curve`?'],
    [['key', 'new', 'x.pem', '--foce'], '`quorate key new --help` lists its options'],
    [['sends', 'replace', 'r', '--foo'], '`quorate sends replace --help` lists its options'],
    [['apply', '--key'], 'did you mean `--key-file`?'],
  ] as const)('of a mistyped option the nearest is named: %j', ([argv, next]) => {
    expect(() => lineOf(argv)).toThrow(expect.objectContaining({ code: 'cli/usage', next }))
  })

  test.for(visible.map(({ name }) => name))('%s refuses an option that it does not have', (name) => {
    const refusal = { code: 'cli/usage', message: expect.stringContaining('unknown option `--qqq`'), exit: EXIT.error }
    expect(() => lineOf([...name.split(' '), '--qqq'])).toThrow(
      expect.objectContaining({ ...refusal, next: `\`quorate ${name} --help\` lists its options` }),
    )
  })

  test('what is tuned for one pass is a command, and none that stays', () => {
    const names = commands.map(({ name }) => name)
    expect(ONE_PASS.filter((name) => !names.includes(name))).toEqual([])
    expect(ONE_PASS).not.toContain('serve')
  })

  test('an argument that is missing is named', async () => {
    const { stderr, exit } = await quorate(['review'])
    expect(stderr).toContain('error cli/usage: missing required argument `activity`')
    expect(exit).toBe(1)
    for (const vote of ['approve', 'reject']) {
      const voting = await quorate([vote])
      expect(voting.stderr).toContain('expected an activity, or --batch FILE')
      expect(voting.exit).toBe(1)
    }
  })

  test.for([['plam'], ['approve'], ['plan', '--wrong'], ['reset', 'everything']])(
    '`%s --json` is an error as JSON too',
    async (words) => {
      const { stdout, stderr, exit } = await quorate([...words, '--json'])
      const { error } = JSON.parse(stdout)
      expect(error.code).toBe('cli/usage')
      expect(stderr).toContain(error.message)
      expect(exit).toBe(1)
    },
  )

  test('the version is the package’s', async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
    expect((await quorate(['--version'])).stdout.trim()).toBe(version)
  })
})

describe('output', () => {
  test('FORCE_COLOR colours a pipe, but not against NO_COLOR, nor when it says 0', () => {
    const rows = [
      {},
      { FORCE_COLOR: '1' },
      { FORCE_COLOR: '0' },
      { FORCE_COLOR: '1', NO_COLOR: '1' },
      { FORCE_COLOR: '' },
    ]
    expect(rows.map((env) => isColoured(env, false))).toEqual([false, true, false, false, false])
    expect(rows.map((env) => isColoured(env, true))).toEqual([true, true, false, false, true])
  })

  test('no colour goes where no terminal is, whatever NO_COLOR says', async () => {
    const controlCode = String.fromCharCode(27)
    for (const env of [{}, { NO_COLOR: '1' }]) {
      const ran = await quorate(['validate', '/nowhere'], { env })
      expect(ran.stdout + ran.stderr).not.toContain(controlCode)
    }
  })

  test('an error is JSON on stdout too when JSON was asked for', async () => {
    const { stdout, stderr, exit } = await quorate(['plan', '/nowhere', '--json'], {
      env: environmentOf(service, testFolder(), service.root.privateKey),
    })
    expect(JSON.parse(stdout).error.code).toBe('cli/no-definitions')
    expect(stderr).toContain('error cli/no-definitions')
    expect(exit).toBe(1)
  })

  test('plan and validate as JSON are data and nothing else', async () => {
    const folder = testFolder()
    const env = environmentOf(service, folder, service.root.privateKey)
    const defs = writeFiles(join(folder, 'defs'), {
      'a.yaml': `organization: a\nid: ${service.organizationId}\ntags: { one: {} }\n`,
    })
    const plan = JSON.parse((await quorate(['plan', defs, '--json'], { env })).stdout)
    expect(plan.changes.map(({ address }: { address: string }) => address)).toEqual(['tag.one'])
    expect(JSON.parse((await quorate(['validate', defs, '--json'], { env })).stdout)).toEqual({
      valid: true,
      resources: 1,
      diagnostics: [],
    })
  })
})

/** Commands whose stdout is another program's, or which stay until they are stopped: both have tests of their own. */
const NOT_DATA = ['policy lsp', 'serve', 'codec-server']

/** Most of such a command is waiting, until it gives up. */
const AT_ONCE = 4

describe('where nothing answers and nothing is', () => {
  const asked = visible.filter(({ name }) => !NOT_DATA.includes(name))
  let processes: readonly ReturnType<typeof createOneProcess>[]
  beforeAll(() => {
    processes = Array.from({ length: AT_ONCE }, createOneProcess)
  })
  afterAll(() => {
    for (const one of processes) one.close()
  })

  test.concurrent.for(asked.map(({ name, example }, index) => ({ name, example, index })))(
    '`$name --json` still says data on stdout, talk on stderr, and ends with a code that is written down',
    async ({ example, index }, { expect, onTestFinished }) => {
      const folder = testFolder(onTestFinished)
      const env = {
        QUORATE_BASE_URL: 'http://127.0.0.1:1',
        QUORATE_ORGANIZATION_ID: service.organizationId,
        QUORATE_API_KEY_FILE: keyFile(folder, 'key', service.root.privateKey),
        TEMPORAL_ADDRESS: '127.0.0.1:1',
      }
      const words = example.split(' ').slice(1)
      const args = [...words.map((word) => word.replaceAll("'", '')), '--json']
      const ran = await processes[index % AT_ONCE]!.quorate(args, { env, cwd: folder })
      const data = JSON.parse(ran.stdout)
      expect(Object.values(EXIT)).toContain(ran.exit)
      expect(ran.stderr).not.toContain('internal/unexpected')
      expect(ran.stderr).not.toContain('"code"')
      if (data.error) expect(ran.stderr).toContain(`error ${data.error.code}: ${data.error.message}`)
    },
  )
})

test('exit codes: each means one thing, and help, README and reference say so', async () => {
  const codes = Object.values(EXIT)
  expect(new Set(codes).size).toBe(codes.length)
  const { stdout } = await quorate(['--help'])
  const [readme, reference] = ['README.md', 'docs/cli.md'].map((name) =>
    readFileSync(join(import.meta.dirname, '../..', name), 'utf8'),
  )
  for (const code of codes) {
    expect(stdout.replaceAll('\n', ' ')).toMatch(new RegExp(`[ :]${code} [a-z]`))
    expect(readme).toMatch(new RegExp(`^\\| ${code} \\| [a-z]`, 'm'))
    expect(reference).toMatch(new RegExp(`^\\| ${code} \\| [a-z]`, 'm'))
  }
})

describe('init', () => {
  test('first definitions plan to nothing, and are never written over', async () => {
    const folder = testFolder()
    const env = environmentOf(service, folder, service.root.privateKey)
    const root = { userId: service.rootUserId, userEmail: 'root@example.com', userPhoneNumber: '+15551234567' }
    await service.root.submit('ACTIVITY_TYPE_UPDATE_USER', root)
    const mine = join(folder, 'mine')
    const made = await quorate(['init', mine], { env })
    expect(made.stderr).toContain('Wrote')
    expect(readFileSync(join(mine, 'organization.yaml'), 'utf8')).toContain('$schema=./quorate.schema.json\n')
    expect(existsSync(join(mine, 'quorate.schema.json'))).toBe(true)
    const plan = await quorate(['plan', mine, '--detailed-exitcode'], { env })
    expect(plan.stdout).toContain('No changes.')
    expect(plan.exit).toBe(0)
    const again = await quorate(['init', mine], { env })
    expect(again.stderr).toContain('error cli/exists')
    expect(again.exit).toBe(1)
  })
})

describe('votes', () => {
  test('reject ends an activity for good; voting on what has ended says how it ended', async () => {
    const folder = testFolder()
    const env = environmentOf(service, folder, service.root.privateKey)
    const bob = await createTestUser(service, 'bob')
    await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', {
      threshold: 2,
      userIds: [service.rootUserId, bob.userId],
    })
    const waiting = await service.root.submit('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', {
      name: 'FEATURE_NAME_EMAIL_AUTH',
      value: '',
    })
    const key = ['--key-file', keyFile(folder, 'bob', bob.client.privateKey)]
    const unasked = await quorate(['reject', waiting.id, ...key], { env })
    expect(unasked.stderr).toContain('error cli/not-confirmed')
    const rejected = await quorate(['reject', waiting.id, '--yes', '--json', ...key], { env })
    expect(JSON.parse(rejected.stdout)).toMatchObject({
      voted: true,
      activity: { status: 'ACTIVITY_STATUS_REJECTED', rejectedBy: ['bob'] },
    })
    const late = await quorate(['approve', waiting.fingerprint, '--yes', ...key], { env })
    expect(late.stderr).toContain(' has ended as REJECTED; there is nothing to approve')
    expect(late.exit).toBe(6)
    for (const named of ['ffff-ffff', `sha256:${'f'.repeat(64)}`, '00000000-0000-4000-8000-000000000000']) {
      const unknown = await quorate(['approve', named, '--yes', ...key], { env })
      expect(unknown.stderr).toContain('error cli/no-activity: there is no activity ')
      for (const told of [named, service.organizationId, service.url, 'quorate activities --waiting --all', 'base-url'])
        expect(unknown.stderr).toContain(told)
      expect(unknown.exit).toBe(1)
    }
  })
})

describe('serve', () => {
  test('says when it is ready in one line of JSON without a private key, and stops when asked', async () => {
    const folder = testFolder()
    const main = builtMain()
    const child = spawn(
      process.execPath,
      [main, 'serve', '--json', '--folder', join(folder, 'service'), '--root-user', 'alice'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = await once(child.stdout, 'data')
    const ready = JSON.parse(String(line))
    expect(ready).toMatchObject({ ready: true, pid: child.pid })
    expect(ready).not.toHaveProperty('apiPrivateKey')
    expect((await fetch(`${ready.baseUrl}/healthz`)).status).toBe(200)
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    expect(existsSync(join(folder, 'service/bootstrap.json'))).toBe(true)
  })
})
