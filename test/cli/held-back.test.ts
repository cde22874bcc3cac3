/** An API that holds reads back (429, 503, silence): it is said at once and every ten seconds, and a command ends within its deadline. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Between, type Fault, type Meddle, startBetween } from '../faults/between.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { countActivities, environmentOf, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { onlyTags, scene } from './scene.ts'

const busy = (retryAfter: string, status = 429): Fault => ({
  kind: 'answer',
  status,
  retryAfter,
  body: status === 429 ? '{"code":8,"message":"Too many requests."}' : '{"code":14,"message":"unavailable"}',
})

/** A service behind a proxy, and definitions to apply there. */
async function heldBack(meddle: Meddle) {
  const service = await startTestService()
  const between = await startBetween(service.url, meddle)
  onTestFinished(async () => {
    await between.close()
    await service.close()
  })
  const folder = testFolder()
  const env = environmentOf({ ...service, url: between.url }, folder, service.root.privateKey)
  return { service, between, env, defs: writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one']) }) }
}

/** Runs a command, and says how many seconds it took. */
async function timed(args: readonly string[], env: Readonly<Record<string, string>>) {
  const startedAt = performance.now()
  const ran = await quorate(args, { env })
  return { ...ran, seconds: (performance.now() - startedAt) / 1000 }
}

async function nothingSubmitted(service: TestService, between: Between) {
  expect(between.passed.filter(({ submits }) => submits)).toEqual([])
  expect(await countActivities(service)).toBe(0)
}

test('held back: a wait that is longer than what `--wait` leaves is not begun', async () => {
  const { service, between, env, defs } = await heldBack(() => busy('59'))
  const ran = await timed(['apply', defs, '--yes', '--wait', '30s'], env)
  expect(ran.exit, ran.stderr).toBe(1)
  expect(ran.seconds).toBeLessThan(25)
  expect(ran.stderr).toContain('error client/rate-limited: the API answered: Too many requests.')
  expect(ran.stderr).toContain('the next try would be in 59 s, and 30 s are left of the 30 s that --wait gives')
  expect(ran.stderr).toMatch(/submitted +nothing\n/)
  expect(ran.stderr).toContain('run the same command again in 59 s, or with a longer --wait')
  await nothingSubmitted(service, between)
})

test('held back: all reads of a command share its deadline, and each wait is said at once and every ten seconds', async () => {
  // What asks who asks passes: the lists after it are read at the same time.
  const { service, between, env, defs } = await heldBack(({ path }) =>
    path.endsWith('/whoami') ? undefined : busy('12', 503),
  )
  const ran = await timed(['apply', defs, '--yes', '--wait', '20s'], env)
  expect(ran.exit, ran.stderr).toBe(1)
  // One wait of 12 s, in which all of them wait; a second one is too long.
  expect(ran.seconds).toBeGreaterThan(11)
  expect(ran.seconds).toBeLessThan(35)
  expect(ran.stderr).toMatch(
    /^Waiting: \w+, answered 503, Retry-After 12 s: the API answered: unavailable; again in 12.0 s, and no longer than 8 s in all$/m,
  )
  expect(ran.stderr).toMatch(/^Waiting: \w+( and \d+ more)?, for 10 s and 2 s more: answered 503, Retry-After 12 s$/m)
  expect(ran.stderr).toContain('error client/server-error: the API answered: unavailable; not waited for any longer')
  await nothingSubmitted(service, between)
})

test('held back: a read that never gets an answer ends the command too', async () => {
  const { service, between, env, defs } = await heldBack(() => ({ kind: 'silence' }))
  const ran = await timed(['apply', defs, '--yes', '--wait', '10s'], env)
  expect(ran.exit, ran.stderr).toBe(1)
  expect(ran.seconds).toBeLessThan(28)
  expect(ran.stderr).toMatch(
    /error client\/unreachable: .*no answer within 10 s; not waited for any longer: 0 s are left of the 10 s/,
  )
  await nothingSubmitted(service, between)
})

test('held back: a command that has failed does not wait for what it reads at the same time', async () => {
  const { env } = await heldBack(({ path }) => {
    if (path.endsWith('/list_wallets')) return busy('50', 503)
    return path.endsWith('/whoami') ? { kind: 'answer', status: 401, body: '{"code":16,"message":"no"}' } : undefined
  })
  const to = '0x00000000000000000000000000000000000000aa'
  const payment = ['--from', 'w', '--to', to, '--amount', '1eth', '--chain', 'eip155:11155111', '--ref', 'r']
  const ran = await timed(['send', '--dry-run', ...payment], env)
  expect(ran.exit, ran.stderr).toBe(1)
  expect(ran.stderr).toContain('error client/unauthenticated')
  expect(ran.seconds).toBeLessThan(25)
})

test('held back: once a worker carries it out, nobody is told that nothing was submitted', async () => {
  let isMade = false
  const closing: (() => Promise<void>)[] = []
  const { service, folder, env } = await scene({
    at: async ({ url }) => {
      const between = await startBetween(url, ({ submits }) => {
        isMade ||= submits
        return isMade && !submits ? busy('59') : undefined
      })
      closing.push(between.close)
      return between.url
    },
  })
  onTestFinished(() => Promise.all(closing.map((close) => close())).then(() => {}))
  const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one']) })
  // The tag is made; that nothing is left to do cannot be read any more.
  const ran = await quorate(['apply', defs, '--yes', '--wait', '40s'], { env })
  expect(ran.exit, ran.stderr).toBe(1)
  expect(ran.stderr).toContain('error client/rate-limited')
  expect(ran.stderr).toMatch(/submitted +what the worker carries out, which goes on: `quorate status` shows it/)
  expect(await countActivities(service)).toBe(1)
})
