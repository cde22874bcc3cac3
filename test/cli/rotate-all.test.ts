import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { RotationProgress } from '../../activities/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { builtMain } from '../built.ts'
import { startBetween } from '../faults/between.ts'
import { createTestUser, type TestUser } from '../service/harness.ts'
import { quorateShared, readAll } from './harness.ts'
import { scene } from './scene.ts'

interface Report {
  readonly rotations: readonly RotationProgress[]
  readonly left: readonly { readonly user: { readonly name: string }; readonly why: string }[]
  readonly notBegun: readonly { readonly user: string; readonly key: string; readonly why: string }[]
  readonly definitions?: readonly string[]
  readonly commits?: readonly string[]
}

const DAY = 86_400_000

test('rotate key --all: limits are counted first, a failure stops it, the same command goes on, and the definitions are committed alone', async () => {
  let aheadMs = -100 * DAY
  const { service, folder, env } = await scene({ clock: () => Date.now() + aheadMs })
  const names = ['ann', 'bob', 'cia']
  const users = []
  for (const name of names) users.push(await createTestUser(service, name))
  const [ann, bob] = users
  const add = (userId: string, apiKeyNames: readonly string[]) =>
    service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', {
      userId,
      apiKeys: apiKeyNames.map((apiKeyName) => ({
        apiKeyName,
        publicKey: generateP256KeyPair().publicKey,
        curveType: 'API_KEY_CURVE_P256',
        ...(apiKeyName === 'short' ? { expirationSeconds: String(1_000 * 86_400) } : {}),
      })),
    })
  await add(ann!.userId, ['second', 'short'])
  aheadMs = 0
  const { userId: young } = await createTestUser(service, 'young')
  const full = await createTestUser(service, 'full')
  await add(
    full.userId,
    Array.from({ length: 9 }, (_, index) => `spare-${index}`),
  )
  const run = (...args: readonly string[]) => quorateShared(args, { env, cwd: folder })
  const all = ['rotate', 'key', '--all', '--older-than', '90d', '--overlap', '0', '--yes', '--json']
  const into = ['--to-file', 'keys/{user}-{key}.key']

  const tooFull = await run(...all, '--older-than', '0', ...into)
  expect([tooFull.exit, tooFull.stderr]).toEqual([4, expect.stringMatching(/rotate\/no-room: `full` has 10/)])
  for (const [wrong, said] of [
    [['--to-file', 'one.key'], 'would go to one place'],
    [['--to-file', '{whom}.key'], 'stands for nothing'],
    [[...into, '--user', 'ann'], '--user is for one key'],
    [[...into, '--except', 'nobody'], 'no user `nobody`'],
  ] as const) {
    const refused = await run(...all, ...wrong)
    expect([refused.exit, refused.stderr], said).toEqual([1, expect.stringContaining(said)])
  }
  // Nobody keeps an old key by taking the name of one who is left out.
  const rename = (userId: string, userName: string) =>
    service.root.submit('ACTIVITY_TYPE_UPDATE_USER_NAME', { userId, userName })
  await rename(ann!.userId, 'cia')
  const twoNamed = await run(...all, ...into, '--except', 'cia')
  expect([twoNamed.exit, twoNamed.stderr]).toEqual([1, expect.stringContaining('2 of them are the user `cia`')])
  expect(twoNamed.stderr).toContain(ann!.userId)
  await rename(ann!.userId, 'ann')

  expect((await run('import', 'defs')).exit).toBe(0)
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
  const commit = ['-c', 'commit.gpgsign=false', 'commit', '--quiet', '--message']
  git('init', '--quiet')
  for (const [name, value] of [
    ['user.name', 'A Tester'],
    ['user.email', 'tester@example.com'],
    ['commit.gpgsign', 'false'],
  ] as const)
    git('config', name, value)
  writeFileSync(join(folder, 'other.txt'), 'one\n')
  git('add', 'defs', 'other.txt')
  git(...commit, 'as it was')
  writeFileSync(join(folder, 'other.txt'), 'two\n')
  git('add', 'other.txt')
  const committing = [...into, '--definitions', 'defs', '--commit']
  const file = readAll(join(folder, 'defs')).find(({ text }) => text.includes(bob!.client.publicKey))!.path
  const written = readFileSync(file, 'utf8')
  writeFileSync(file, `${written}# Not committed.\n`)
  const dirty = await run(...all, ...committing)
  expect([dirty.exit, dirty.stderr]).toEqual([4, expect.stringContaining('rotate/uncommittable')])
  writeFileSync(file, written)

  // Where the key of bob goes is a folder: nothing can be handed over there.
  const keys = join(folder, 'keys')
  mkdirSync(join(keys, 'bob-bob-key.key'), { recursive: true, mode: 0o700 })
  const stopped = await run(...all, ...into, '--except', 'cia')
  expect(stopped.exit, stopped.stderr).toBe(1)
  const first = JSON.parse(stopped.stdout) as Report
  expect(first.rotations.map(({ user, state }) => [user, state])).toEqual([
    ['ann', 'done'],
    ['bob', 'failed'],
  ])
  expect(first.notBegun).toMatchObject([{ user: 'ann', key: 'second', why: 'another one failed' }])
  expect(first.left.map(({ user, why }) => [user.name, why])).toEqual(
    expect.arrayContaining([
      ['cia', 'left out'],
      ['ann', 'expires'],
      [expect.any(String), 'in use'],
    ]),
  )
  expect(await bob!.client.query('whoami')).toMatchObject({ userId: bob!.userId })

  mkdirSync(join(folder, 'again'), { mode: 0o700 })
  const other = ['--to-file', 'again/{user}-{key}.key', '--definitions', 'defs', '--commit']
  const rest = await run(...all, ...other)
  expect(rest.exit, rest.stderr + rest.stdout).toBe(0)
  const second = JSON.parse(rest.stdout) as Report
  const done = second.rotations.filter(({ state }) => state === 'done')
  expect(done.map(({ user, key }) => `${user} ${key}`).toSorted()).toEqual([
    'ann ann-key',
    'ann second',
    'bob bob-key',
    'cia cia-key',
  ])
  for (const one of done) {
    expect(one).toMatchObject({ old: { id: expect.any(String) }, new: { id: expect.any(String) } })
    expect(Object.keys(one.activities)).toEqual(['create', 'delete'])
  }
  expect(readdirSync(join(folder, 'again')).toSorted()).toEqual([
    'ann-second.key',
    'bob-bob-key.key',
    'cia-cia-key.key',
  ])
  expect((await service.root.query('get_api_keys', { userId: young })).apiKeys.length).toBe(1)

  // The commit has the definitions alone; what was staged is staged still.
  expect(second.commits).toEqual([git('rev-parse', 'HEAD').trim()])
  const changed = git('show', '--name-only', '--format=%s', 'HEAD').trim().split('\n')
  expect(changed[0]).toBe('definitions: 4 API keys were rotated')
  expect(changed.filter((one) => one !== '').slice(1)).toEqual(expect.not.arrayContaining(['other.txt']))
  expect(git('status', '--porcelain', '--', 'defs', 'other.txt')).toBe('M  other.txt\n')
  const plan = await run('plan', 'defs', '--json')
  expect([plan.exit, JSON.parse(plan.stdout).changes], plan.stderr).toEqual([0, []])

  const none = await run(...all, ...other)
  expect([none.exit, JSON.parse(none.stdout).notBegun]).toEqual([0, []])
  expect((JSON.parse(none.stdout) as Report).rotations.length).toBe(second.rotations.length)
})

/** 8 users here; `npm run soak -- rotate-all` has 96, as an organization takes 100 users, at as many times the rate. */
const TIMES = Number(process.env['QUORATE_TIMES'] ?? 1)
const USERS = 8 * TIMES
const PER_SECOND = 5 * TIMES

test('rotate key --all: it keeps to the rate, is paused by ending it, and the same command rotates the rest; the report has all of them', {
  timeout: 240_000 * TIMES,
}, async () => {
  const times: number[] = []
  const ended = Promise.withResolvers<void>()
  let deletions = 0
  let aheadMs = -100 * DAY
  const { service, folder, env } = await scene({
    clock: () => Date.now() + aheadMs,
    more: { QUORATE_REQUESTS_PER_SECOND: String(PER_SECOND) },
    async at({ url }) {
      const between = await startBetween(url, async ({ path }) => {
        times.push(performance.now())
        // However late this process sees that two are done: no third is, before the command has been ended.
        if (path.endsWith('/delete_api_keys') && ++deletions > 2) await ended.promise
        return undefined
      })
      onTestFinished(() => between.close())
      return between.url
    },
  })
  const users: TestUser[] = []
  for (let n = 0; n < USERS; n++) users.push(await createTestUser(service, `user-${n}`))
  aheadMs = 0
  const takenOf = () =>
    Promise.all(
      users.map(({ client }) =>
        client.query('whoami').then(
          () => true,
          () => false,
        ),
      ),
    )
  const args = ['rotate', 'key', '--all', '--older-than', '90d', '--overlap', '0', '--yes', '--json']
  const into = ['--to-file', 'keys/{user}-{key}.key']
  mkdirSync(join(folder, 'keys'), { mode: 0o700 })
  const first = spawn(process.execPath, [builtMain(), ...args.filter((one) => one !== '--json'), ...into], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void first.kill('SIGKILL'))
  let said = ''
  first.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const exited = once(first, 'exit')
  await vi.waitFor(() => expect(said).toMatch(new RegExp(`2 of ${USERS}: .*: done`)), { interval: 20 })
  first.kill('SIGINT')
  expect((await exited)[1]).toBe('SIGINT')
  ended.resolve()
  expect(said).toContain('what was begun goes on. No other key is begun; the same command goes on with the rest.')

  // The one that was begun goes on without the command, and no other is begun.
  const kept = async () => (await takenOf()).filter((isTaken) => isTaken).length
  await vi.waitFor(async () => expect(await kept()).toBeLessThanOrEqual(USERS - 2))
  let before = -1
  for (let now = await kept(); now !== before; now = await kept()) {
    before = now
    await new Promise((resolve) => setTimeout(resolve, 3_000))
  }
  expect(USERS - before).toBeLessThanOrEqual(4)

  const rest = await quorateShared([...args, ...into], { env, cwd: folder })
  expect(rest.exit, rest.stderr).toBe(0)
  const { rotations, notBegun } = JSON.parse(rest.stdout) as Report
  expect(notBegun).toEqual([])
  expect(rotations.map(({ user, state }) => [user, state]).toSorted()).toEqual(
    users.map((_, n) => [`user-${n}`, 'done']).toSorted(),
  )
  for (const one of rotations) {
    expect(one.old.id).not.toBe(one.new!.id)
    expect(Object.keys(one.activities)).toEqual(['create', 'delete'])
    for (const at of [one.startedAt, one.handedAt, one.deletedAt]) expect(at).toMatch(/^20.*Z$/)
  }
  expect(await kept()).toBe(0)
  // All of them together, the worker's and the commands'.
  const seconds = (times.at(-1)! - times[0]!) / 1000
  expect(times.length).toBeGreaterThan(USERS * 5)
  expect(times.length).toBeLessThanOrEqual(PER_SECOND * (seconds + 1))
})
