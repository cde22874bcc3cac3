/** `quorate policy …` as people run it: a process, files, exit codes. */
import { spawn } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { builtMain } from '../built.ts'
import { createTestUser, startTestService } from '../service/harness.ts'
import { countActivities, environmentOf, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'

const root = join(import.meta.dirname, '../..')
const acme = join(root, 'definitions/acme')

/** A copy of the example, to be changed. */
function copyOfAcme(): string {
  const folder = testFolder()
  for (const name of readdirSync(acme)) if (name.endsWith('.yaml')) copyFileSync(join(acme, name), join(folder, name))
  return folder
}

const failing = `scenarios:
  a large payment:
    by: alice
    activity: SIGN_TRANSACTION
    wallet: treasury
    transaction: { ethereum: { value: 5e18 } }
    expect: { outcome: allow, decidedBy: treasury-signs-small }
`
const request = 'by: alice\nactivity: SIGN_TRANSACTION\nwallet: treasury\ntransaction: { ethereum: { value: 5e18 } }\n'

describe('policy test', () => {
  test('policy test: the example passes, without a network and without values from outside', async () => {
    const ran = await quorate(['policy', 'test', acme])
    expect(ran).toMatchObject({ exit: 0, stderr: '' })
    expect(ran.stdout).toMatch(/^\d{2} passed, 0 failed\n$/)
  })

  test('policy test: a failure says expected and got at its place, and why', async () => {
    const folder = copyOfAcme()
    writeFiles(folder, { 'more.test.yaml': failing })
    const { exit, stdout } = await quorate(['policy', 'test', '.', '--filter', 'large payment'], { cwd: folder })
    expect(exit).toBe(1)
    expect(stdout).toContain(
      'more.test.yaml:7:24: error scenarios/failed: `a large payment`: outcome\n  expected  allow\n  got       pending\n',
    )
    expect(stdout).toContain('treasury-signs-small: none; condition: `eth.tx.value < 1000000000000000000` is false')
    expect(stdout).toMatch(/\n0 passed, 1 failed\n$/)
  })

  test('policy test: as JSON, JUnit and TAP', async () => {
    const folder = copyOfAcme()
    writeFiles(folder, { 'more.test.yaml': failing.replace('a large payment', `"large & <odd> # \\"payment\\""`) })
    const args = ['policy', 'test', folder, '--junit', join(folder, 'junit.xml')]
    const json = JSON.parse((await quorate([...args, '--json'])).stdout)
    expect(json).toMatchObject({ failed: 1, files: [{ scenarios: [{ ok: false, line: 2 }] }, {}] })
    const junit = readFileSync(join(folder, 'junit.xml'), 'utf8')
    expect(junit).toContain('name="large &amp; &lt;odd&gt; # &quot;payment&quot;"')
    expect(junit).toMatch(/<testsuite name="[^"]*more.test.yaml" tests="1" failures="1" errors="0">/)
    const tap = (await quorate(['policy', 'test', folder, '--tap'])).stdout.split('\n')
    expect(tap[0]).toBe('TAP version 14')
    expect(tap[1]).toBe(`1..${json.passed + 1}`)
    expect(tap[2]).toBe('not ok 1 - large & <odd> \\# "payment"')
    expect(tap.filter((line) => line.startsWith('ok '))).toHaveLength(json.passed)
  })

  test('policy test: coverage is told by place, held to a threshold, and written for other programs', async () => {
    const folder = copyOfAcme()
    const files = { lcov: join(folder, 'lcov.info'), html: join(folder, 'coverage.html') }
    const { exit, stdout } = await quorate(
      [
        'policy',
        'test',
        '.',
        '--coverage-threshold',
        '100',
        '--coverage-lcov',
        files.lcov,
        '--coverage-html',
        files.html,
      ],
      { cwd: folder },
    )
    expect(exit).toBe(1)
    expect(stdout).toMatch(/policies\.yaml:\d+:16: never true: `approvers\.filter\(/)
    expect(stdout).toMatch(/is below the threshold of 100 %/)
    const lcov = readFileSync(files.lcov, 'utf8')
    const count = (pattern: RegExp) => Number(pattern.exec(lcov)![1])
    expect(lcov.match(/^BRDA:/gm)).toHaveLength(count(/^BRF:(\d+)$/m))
    expect(lcov.match(/^BRDA:\d+,\d+,[01],[1-9]\d*$/gm)).toHaveLength(count(/^BRH:(\d+)$/m))
    expect(lcov).toMatch(/^SF:policies\.yaml$/m)
    const html = readFileSync(files.html, 'utf8')
    expect(html.match(/<mark class="never-true"/g)!.length).toBe(html.match(/<\/mark>/g)!.length)
    expect((await quorate(['policy', 'test', folder, '--coverage-threshold', '50'])).exit).toBe(0)
  })

  test('policy test: with --watch a changed file is played again', async () => {
    const folder = copyOfAcme()
    writeFiles(folder, { 'more.test.yaml': failing })
    const child = spawn(process.execPath, [builtMain(), 'policy', 'test', folder, '--watch'], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], CI: 'true' },
      stdio: 'pipe',
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let out = ''
    const saw = (pattern: RegExp) => vi.waitUntil(() => pattern.test(out), { interval: 20 })
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        out += part
      })
    await saw(/1 failed[\s\S]*watching/)
    writeFileSync(
      join(folder, 'more.test.yaml'),
      failing.replace('outcome: allow', 'outcome: pending').replace('-small', '-together'),
    )
    await saw(/ 0 failed/)
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGINT')
    expect(await closed).toBe(0)
  })

  test.each([
    { name: 'a folder without tests', files: { 'a.yaml': 'tags: {}\n' }, says: 'cli/no-tests' },
    {
      name: 'definitions with errors',
      files: { 'a.yaml': 'tag: {}\n', 'a.test.yaml': '' },
      says: 'a.yaml:1:1: error definitions/unknown-key',
    },
    {
      name: 'tests with mistakes',
      files: { 'a.yaml': 'tags: {}\n', 'a.test.yaml': 'scenario: {}\n' },
      says: 'a.test.yaml:1:1: error scenarios/unknown-key',
    },
    {
      name: 'a variable that a policy needs',
      files: {
        'a.yaml': "policies: { p: { effect: allow, condition: 'eth.tx.value < ${var.limit}' } }\n",
        'a.test.yaml': '',
      },
      says: 'definitions/missing-var',
    },
  ])('policy test: $name', async ({ files, says }) => {
    const folder = writeFiles(testFolder(), files as unknown as Record<string, string>)
    const { exit, stdout, stderr } = await quorate(['policy', 'test', '.'], { cwd: folder })
    expect(exit).toBe(1)
    expect(stdout + stderr).toContain(says)
  })
})

describe('policy eval and explain', () => {
  test('policy eval: a request is decided by definitions, and by one file of them', async () => {
    const folder = testFolder()
    writeFiles(folder, {
      'request.yaml': request,
      'one.yaml':
        'users: { alice: {} }\nwallets: { treasury: { accounts: [] } }\npolicies: { all: { effect: allow } }\n',
    })
    const file = join(folder, 'request.yaml')
    expect((await quorate(['policy', 'eval', acme, '--request', file])).stdout).toBe(
      'pending: policy treasury-signs-together; needs any 1 of bob, carol\n',
    )
    expect((await quorate(['policy', 'eval', join(folder, 'one.yaml'), '--request', file])).stdout).toBe(
      'allow: policy all\n',
    )
    const json = JSON.parse((await quorate(['policy', 'eval', acme, '--request', file, '--json'])).stdout)
    expect(json).toMatchObject({
      outcome: 'pending',
      final: 'OUTCOME_REQUIRES_CONSENSUS',
      decidedBy: ['treasury-signs-together'],
      policies: { 'treasury-signs-small': 'OUTCOME_DENY_IMPLICIT' },
    })
  })

  test('policy explain: the tree names the clause that made the difference, with its values', async () => {
    const folder = writeFiles(testFolder(), { 'request.yaml': request })
    const { exit, stdout } = await quorate(['policy', 'explain', acme, '--request', join(folder, 'request.yaml')])
    expect(exit).toBe(0)
    expect(stdout).toContain(
      '>       eth.tx.value < 1000000000000000000: false\n          eth.tx.value = 5000000000000000000\n',
    )
    const why = await quorate([
      'policy',
      'explain',
      acme,
      '--request',
      join(folder, 'request.yaml'),
      '--why-not',
      'carol',
      '--markdown',
    ])
    expect(why.stdout).toContain('carol may not do this alone; their approval of the request as it waits counts:\n')
    expect(why.stdout).toContain('- **`approvers.filter(user, user.tags.contains(')
    const nobody = await quorate([
      'policy',
      'explain',
      acme,
      '--request',
      join(folder, 'request.yaml'),
      '--why-not',
      'carl',
    ])
    expect(nobody).toMatchObject({ exit: 1, stderr: expect.stringContaining('did you mean `carol`?') })
  })

  test('policy eval and explain: with --live the policies of the organization decide, and ids go by their names', async () => {
    const service = await startTestService()
    onTestFinished(() => service.close())
    const folder = testFolder()
    const { userId } = await createTestUser(service, 'gwen')
    const consensus = `approvers.any(u, u.id == '${userId}')`
    const policies = [
      {
        policyName: 'gwen-makes-wallets',
        effect: 'EFFECT_ALLOW',
        consensus,
        condition: "activity.kind == 'CREATE_WALLET'",
        notes: '',
      },
    ]
    await service.root.submit('ACTIVITY_TYPE_CREATE_POLICIES', { policies })
    const before = await countActivities(service)
    writeFiles(folder, { 'request.yaml': 'by: gwen\nactivity: CREATE_WALLET\n' })
    const env = environmentOf(service, folder, service.root.privateKey)
    const args = ['--live', '--request', join(folder, 'request.yaml')]
    expect(await quorate(['policy', 'eval', ...args], { env, cwd: folder })).toMatchObject({
      exit: 0,
      stdout: 'allow: policy gwen-makes-wallets\n',
    })
    const { stdout } = await quorate(['policy', 'explain', ...args], { env, cwd: folder })
    expect(stdout).toContain(`u.id = '${userId}' (user.gwen)`)
    await createTestUser(service, 'hugo')
    const why = await quorate(['policy', 'explain', ...args, '--why-not', 'hugo'], { env, cwd: folder })
    expect(why.stdout).toMatch(/^hugo may not do this alone:\n/)
    expect(why.stdout).toContain(`approvers.any(u, u.id == '${userId}')`)
    // Making Hugo is one; asking is none.
    expect(await countActivities(service)).toBe(before + 1)
  })

  test('policy eval: a mistake in the request is shown at its place', async () => {
    const folder = writeFiles(testFolder(), { 'request.yaml': 'by: alica\nactivity: CREATE_WALLET\n' })
    const { exit, stderr } = await quorate(['policy', 'eval', acme, '--request', 'request.yaml'], { cwd: folder })
    expect(exit).toBe(1)
    expect(stderr).toContain('request.yaml:1:5: error scenarios/unknown-name: no user `alica` is defined')
  })
})

describe('policy eval --cases', () => {
  test('policy eval --cases: a JSON line for every run, then the count', async () => {
    const { exit, stdout } = await quorate(['policy', 'eval', '--cases', join(root, 'test/policy/policy-cases.yaml')])
    const lines = stdout.trimEnd().split('\n')
    expect({ exit, last: lines.at(-1), count: lines.length }).toEqual({
      exit: 0,
      last: '144 passed, 0 failed',
      count: 145,
    })
    const runs = lines.slice(0, -1).map((line) => JSON.parse(line))
    expect(new Set(runs.map(({ name }) => name)).size).toBe(144)
    expect(Object.keys(runs[0])).toEqual(['name', 'outcome', 'final', 'policies', 'expected', 'ok'])
  })

  test('policy eval --cases: a failure is counted and ends with 1', async () => {
    const folder = writeFiles(testFolder(), {
      'c.yaml': `cases:\n- {name: c, policies: [{name: P, effect: EFFECT_ALLOW}], context: {}, expect: {outcome: deny}}\n`,
    })
    const { exit, stdout } = await quorate(['policy', 'eval', '--cases', join(folder, 'c.yaml')])
    expect(exit).toBe(1)
    expect(stdout).toMatch(/"ok":false.*\n0 passed, 1 failed\n$/)
    expect(await quorate(['policy', 'eval', '--cases', join(folder, 'no.yaml')])).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('cli/unreadable'),
    })
  })
})
