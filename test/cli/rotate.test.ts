import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RotationProgress } from '../../activities/index.ts'
import { createTestUser } from '../service/harness.ts'
import { quorateShared as quorate, readAll } from './harness.ts'
import { scene } from './scene.ts'

const closing: (() => Promise<unknown> | unknown)[] = []
let stage: Awaited<ReturnType<typeof scene>>

beforeAll(async () => {
  stage = await scene({ atEnd: (close) => closing.push(close) })
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

test('rotate key: the overlap is shown by status; the key in use goes into its own file alone, and the next command finds it', async () => {
  const { service, folder, env } = stage
  await createTestUser(service, 'late-bot')
  const run = (...args: readonly string[]) => quorate(args, { env, cwd: folder })
  const { userId, client } = await createTestUser(service, 'ci-bot')
  const rotate = ['rotate', 'key', '--user', 'ci-bot', '--name', 'ci-bot-key', '--yes', '--json']
  const env1 = join(folder, '.env')
  writeFileSync(env1, `A=1\nCI_KEY=${client.privateKey}\nB=2\n`)
  chmodSync(env1, 0o600)

  const nowhere = await run(...rotate)
  expect(nowhere.exit).toBe(1)
  expect(nowhere.stderr).toContain('--to-file')
  const into = (store: string) =>
    quorate(['rotate', 'key', '--user', 'ci-bot', '--name', 'ci-bot-key', '--to-store', store], {
      env,
      cwd: folder,
    })
  // What is no key file stays as it is, and nothing is submitted.
  const notes = join(folder, 'notes.txt')
  for (const text of ['what the auditors asked for\n', JSON.stringify({ privateKey: client.privateKey, port: 1 })]) {
    writeFileSync(notes, text, { mode: 0o600 })
    const wrong = await run(...rotate, '--to-file', 'notes.txt')
    expect([wrong.exit, wrong.stderr]).toEqual([1, expect.stringContaining('which a new key would replace')])
    expect(wrong.stderr).toMatch(/submitted +nothing/)
    expect(readFileSync(notes, 'utf8')).toBe(text)
  }
  const { length } = (await service.root.query('list_activities', {})).activities
  for (const [option, value] of [
    ['--to-file', 'missing/ci.key'],
    ['--to-env', 'missing/.env:CI_KEY'],
  ]) {
    const { exit, stdout } = await run(...rotate, option!, value!)
    expect([exit, JSON.parse(stdout).error]).toEqual([
      1,
      expect.objectContaining({
        code: 'rotate/sink-failed',
        message: expect.stringContaining('cannot be written: its folder is not there; no key was made'),
      }),
    ])
  }
  expect((await service.root.query('list_activities', {})).activities).toHaveLength(length)
  for (const store of [
    'vaul:secret/ci',
    'vault:secret',
    'vault:secret/../sys',
    'kubernetes:ci#key',
    'vault:secret/ci#',
  ]) {
    const wrong = await into(store)
    expect([wrong.exit, wrong.stderr], store).toEqual([1, expect.stringContaining('kubernetes:default/ci#key')])
  }
  expect((await into('vault:secret/ci#deploy')).stderr).toMatch(/goes to +vault:secret\/ci#deploy/)
  expect((await run('import', 'defs')).exit).toBe(0)
  const file = readAll(join(folder, 'defs')).find(({ text }) => text.includes(client.publicKey))!.path
  const written = readFileSync(file, 'utf8').replace(/^/, '# Who may act.\n')
  writeFileSync(file, written)
  const begun = await run(...rotate, '--to-env', '.env:CI_KEY', '--overlap', '1h')
  expect(begun.stderr + begun.stdout).toContain('overlap')
  expect(begun.exit).toBe(0)
  const progress = JSON.parse(begun.stdout) as RotationProgress
  expect(progress).toMatchObject({ state: 'overlap', user: 'ci-bot', key: 'ci-bot-key' })
  expect(Date.parse(progress.deletesAt!) - Date.parse(progress.handedAt!)).toBe(3_600_000)
  const [, privateKey] = /^A=1\nCI_KEY=([0-9a-f]{64})\nB=2\n$/.exec(readFileSync(env1, 'utf8'))!
  expect(await service.client(privateKey!).query('whoami')).toMatchObject({ userId })
  expect(await client.query('whoami')).toMatchObject({ userId })
  const { stdout, exit } = await quorate(['status'], { env, cwd: folder })
  expect(exit).toBe(0)
  expect(stdout).toContain(`overlap  ci-bot-key of ci-bot`)
  for (const text of [begun.stdout, begun.stderr, stdout]) expect(text).not.toContain(privateKey!)
  const other = await run(
    'rotate',
    'key',
    '--user',
    'ci-bot',
    '--name',
    progress.new!.publicKey,
    '--yes',
    '--to-file',
    'x',
  )
  expect([other.exit, other.stderr]).toEqual([1, expect.stringContaining('rotate/other-runs')])

  const { userName, apiKeyName } = await own()
  const self = ['rotate', 'key', '--user', userName, '--name', apiKeyName, '--overlap', '0', '--yes', '--json']
  const texts = rotate.filter((word) => word !== '--json')
  const patched = await run(...texts, '--to-env', '.env:CI_KEY', '--definitions', 'defs')
  expect(patched.stdout).toContain(`-        publicKey: ${client.publicKey}`)
  expect(patched.stdout).toContain(`+        publicKey: ${progress.new!.publicKey}`)
  expect(readFileSync(file, 'utf8')).toBe(written)

  const refused = await run(...self, '--to-file', join(folder, 'elsewhere.key'))
  expect([refused.exit, refused.stderr]).toEqual([4, expect.stringContaining('rotate/own-key')])
  const defs = ['--definitions', 'defs', '--write']
  const done = await run(...self, '--to-file', env['QUORATE_API_KEY_FILE']!, ...defs)
  expect([done.exit, JSON.parse(done.stdout)]).toMatchObject([0, { state: 'done', proof: 'refused' }])
  const after = await run('whoami', '--json')
  expect(JSON.parse(after.stdout)).toMatchObject({ publicKey: JSON.parse(done.stdout).new.publicKey })
  const { old, new: made } = JSON.parse(done.stdout) as RotationProgress
  expect(readFileSync(file, 'utf8')).toBe(written.replace(old.publicKey, made!.publicKey))
  // A command that ended before the new key was handed over is given again when it is: nothing is rotated twice.
  writeFileSync(file, written)
  const late = await run(...self, '--to-file', env['QUORATE_API_KEY_FILE']!, ...defs)
  expect([late.exit, JSON.parse(late.stdout)]).toMatchObject([
    0,
    { state: 'done', rotationId: JSON.parse(done.stdout).rotationId },
  ])
  expect(readFileSync(file, 'utf8')).toBe(written.replace(old.publicKey, made!.publicKey))
  const plan = await run('plan', 'defs', '--json')
  expect([plan.exit, JSON.parse(plan.stdout)]).toMatchObject([0, { changes: [], guards: [] }])
  expect((await run('status')).exit).toBe(0)

  // Of one that fails when no command waits for it any more, the reason is in no history alone.
  const lateKey = ['rotate', 'key', '--user', 'late-bot', '--name', 'late-bot-key', '--overlap', '0', '--yes']
  expect((await run(...lateKey, '--to-command', 'exit 3')).exit).toBe(1)
  const failed = await run('status')
  expect([failed.exit, failed.stdout]).toEqual([6, expect.stringMatching(/^failed +late-bot-key of late-bot$/m)])
  expect(failed.stdout).toContain('it ended with status 3')
  expect((await run(...lateKey, '--to-command', `cat > '${join(folder, 'late.key')}'`)).exit).toBe(0)
  const again = await run('status')
  expect([again.exit, again.stdout]).toEqual([0, expect.not.stringContaining('late-bot')])

  async function own() {
    const { apiKeys } = await service.root.query('get_api_keys', { userId: service.rootUserId })
    const { username } = await service.root.query('whoami')
    return { userName: username, apiKeyName: apiKeys[0]!.apiKeyName }
  }
})

test('rotate key: what it waits for is told once, with how others vote', async () => {
  const { service, folder, env } = await scene({ atEnd: (close) => closing.push(close) })
  const { userId } = await createTestUser(service, 'second-root')
  await createTestUser(service, 'late-key')
  const userIds = [service.rootUserId, userId]
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  const rotate = ['rotate', 'key', '--user', 'late-key', '--name', 'late-key-key', '--to-file', 'late.key', '--yes']
  const { exit, stdout, stderr } = await quorate(rotate, { env, cwd: folder })
  expect([exit, stdout]).toEqual([3, expect.stringMatching(/^ {2}waits .*others vote with `quorate approve /m)])
  expect((stdout + stderr).match(/others vote with/g)).toHaveLength(1)
})
