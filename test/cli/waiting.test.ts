/** Nothing waits in silence: what is tried and what was answered is said, and `--wait` ends following with its exit code. */
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { findPlace } from '../../src/cli/background/connect.ts'
import { withApplies } from '../../src/cli/background/temporal.ts'
import { createDeadline } from '../../src/cli/deadline.ts'
import { createIo } from '../../src/cli/io.ts'
import { createPatience, createWaitLogger } from '../../src/cli/waiting.ts'
import { readSettings } from '../../src/config/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { findApply } from '../../src/operations/index.ts'
import { createTestUser } from '../service/harness.ts'
import { countActivities, environmentOf, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { onlyTags, scene } from './scene.ts'
import { startCommand } from './started.ts'

/** Says what is said, with the time stopped. */
function listener() {
  const texts: string[] = []
  return { texts, io: { live: false, say: (text: string) => void texts.push(text) } }
}

describe('waiting', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  test('a request without an answer is named every ten seconds, and no more once it is answered', () => {
    const { texts, io } = listener()
    const logger = createWaitLogger(io, 'http://api.example')
    const path = '/public/v1/query/whoami'
    logger.debug('asking', { path })
    vi.advanceTimersByTime(25_000)
    logger.debug('asked', { path })
    vi.advanceTimersByTime(60_000)
    expect(texts).toEqual([
      'Waiting: http://api.example has not answered whoami for 10 s\n',
      'Waiting: http://api.example has not answered whoami for 20 s\n',
    ])
    logger.warn('reading again', { path, attempt: 2, of: 6, said: 'the API answered: boom', waitMs: 1_300 })
    expect(texts.at(-1)).toBe('Waiting: whoami, try 2 of 6: the API answered: boom; again in 1.3 s\n')
  })

  test('what is followed says every ten seconds what is open, from the last news on, and ends after `--wait`', () => {
    const { texts, io } = listener()
    const patience = createPatience({ io, options: { wait: '30s' } }, { what: 'the apply', next: 'look again' })
    for (let second = 0; second < 28; second++) {
      patience.look(() => 'submitting create tag one', second === 5)
      vi.advanceTimersByTime(1_000)
    }
    expect(texts).toEqual([
      'Nothing new for 10 s: submitting create tag one\n',
      'Nothing new for 20 s: submitting create tag one\n',
    ])
    vi.advanceTimersByTime(3_000)
    expect(() => patience.look(() => 'submitting create tag one')).toThrow(
      expect.objectContaining({ code: 'cli/still-runs', exit: 3, facts: { open: 'submitting create tag one' } }),
    )
  })

  test('where Temporal leaves a look without an answer, that is said too', async () => {
    const { texts, io } = listener()
    const patience = createPatience({ io, options: {} }, { what: 'the apply', next: 'look again' })
    const { promise, resolve } = Promise.withResolvers<void>()
    const followed = patience.during(() => promise)
    vi.advanceTimersByTime(15_000)
    patience.look(() => 'submitting create tag one', true)
    vi.advanceTimersByTime(25_000)
    resolve()
    await followed
    vi.advanceTimersByTime(60_000)
    expect(texts).toEqual([
      'Nothing new for 10 s: Temporal has not answered yet\n',
      'Nothing new for 10 s: submitting create tag one\n',
      'Nothing new for 20 s: submitting create tag one\n',
    ])
  })

  test('a Temporal that is away is told within ten seconds, again while it is, and when it is back; one that is busy is not', async () => {
    const { texts, io } = listener()
    const patience = createPatience({ io, options: {} }, { what: 'the apply', next: 'look again' })
    let isThere = true
    patience.asking(async () => isThere)
    const { promise, resolve } = Promise.withResolvers<void>()
    const followed = patience.during(() => promise)
    patience.look(() => 'waiting create tag one', true)
    // No look has an answer, as where the worker is busy, and the server answers.
    await vi.advanceTimersByTimeAsync(9_500)
    expect(texts).toEqual([])
    isThere = false
    await vi.advanceTimersByTimeAsync(10_000)
    expect(texts.filter((text) => text.startsWith('Temporal'))).toEqual([
      expect.stringMatching(/^Temporal does not answer, for \d s now; last known: waiting create tag one\n$/),
    ])
    await vi.advanceTimersByTimeAsync(10_000)
    expect(texts.filter((text) => text.startsWith('Temporal'))).toHaveLength(2)
    isThere = true
    await vi.advanceTimersByTimeAsync(2_000)
    expect(texts).toContainEqual(expect.stringMatching(/^Temporal answers again, after \d+ s\.\n$/))
    resolve()
    await followed
  })
})

test('waiting: an apply whose submits are answered with 500 says so, ends with 3 after `--wait`, and is made once later', async () => {
  const faults = { isOn: true }
  const { service, folder, env } = await scene({ at: (real) => failingSubmits(real.url, faults) })
  const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one']) })
  const ran = await quorate(['apply', defs, '--yes', '--wait', '20s'], { env })
  expect(ran.exit, ran.stderr).toBe(3)
  expect(ran.stderr).toMatch(/the API answered: boom/)
  // On a machine with much to do the first line comes before the first answer; the last says it in any case.
  expect(ran.stderr).toMatch(/Nothing new for \d+ s: submitting [\da-f-]* ?create tag one/)
  expect(ran.stderr).toMatch(/open +submitting [\da-f-]* ?create tag one, last answer: the API answered: boom/)
  expect(ran.stderr).toContain(
    'error cli/still-runs: the apply has not ended within 20s; a worker of its Temporal server (`quorate worker`) goes on with it',
  )
  const looks = await quorate(['status', '--watch', '--wait', '0', '--json'], { env })
  expect(looks.exit, looks.stderr).toBe(0)
  expect(JSON.parse(looks.stdout)).toMatchObject({ apply: { state: 'running' } })
  // One document a line, for a program that reads the looks as they come.
  expect(looks.stdout.trimEnd().split('\n')).toHaveLength(1)
  faults.isOn = false
  const again = () => quorate(['apply', defs, '--yes'], { env })
  const first = await again()
  // The apply that waits may get there between this one's plan and its first activity: the plan is stale then, and nothing is left to do.
  const later = first.exit === 5 ? await again() : first
  expect(later.exit, later.stdout + later.stderr).toBe(0)
  expect(await countActivities(service)).toBe(1)
})

test('waiting: an apply that is followed while Temporal goes silent says so', async () => {
  const { service, folder, env } = await scene()
  const bob = await createTestUser(service, 'bob')
  const userIds = [service.rootUserId, bob.userId]
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one']) })
  expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(3)
  const relay = await startRelay(env['TEMPORAL_ADDRESS']!)
  const following = startCommand(['status', '--follow'], {
    env: { ...env, TEMPORAL_ADDRESS: relay.address },
    home: folder,
  })
  await following.says(/waiting +create tag one/)
  relay.hush()
  const hushedAt = performance.now()
  await following.says(/Temporal does not answer, for \d+ s now; last known: waiting [\da-f-]+ create tag one/)
  expect(performance.now() - hushedAt).toBeLessThan(10_000)
  // It is not waited for as long as a call and its repetitions may take.
  await following.says(/answers no more/)
  expect(performance.now() - hushedAt).toBeLessThan(30_000)
  const { exit, stderr } = await following.ended
  expect([exit, stderr]).toEqual([1, expect.stringMatching(/error worker\/temporal-unreachable: .* answers no more/)])
})

test('waiting: one look at a Temporal that goes silent ends within ten seconds, though a call is waited for longer', async () => {
  const { env } = await scene()
  const relay = await startRelay(env['TEMPORAL_ADDRESS']!)
  const environment = { ...env, TEMPORAL_ADDRESS: relay.address }
  const settings = readSettings(environment, {})
  const input = { settings, environment, io: createIo(environment), deadline: createDeadline({}) }
  const place = await findPlace(input)
  let hushedAt = 0
  const look = withApplies(
    input,
    place,
    (applies) => {
      relay.hush()
      hushedAt = performance.now()
      return findApply(applies)
    },
    { isLook: true },
  )
  await expect(look).rejects.toMatchObject({
    code: 'worker/temporal-unreachable',
    message: expect.stringMatching(/answers no more$/),
  })
  expect(performance.now() - hushedAt).toBeLessThan(10_000)
})

/** A way to a server that goes on taking what is said to it, and lets nothing through, once it is hushed. */
async function startRelay(to: string) {
  const [host, port] = to.split(':')
  const sockets = new Set<Socket>()
  const server = createTcpServer((near) => {
    const far = connect({ host: host!, port: Number(port) })
    for (const one of [near, far]) sockets.add(one.on('error', () => {}))
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const one of sockets) one.destroy()
    server.close()
  })
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    hush() {
      for (const one of sockets) one.unpipe()
    },
  }
}

test('waiting: a command against a service that fails says each try', async () => {
  const url = await failingSubmits('http://127.0.0.1:9', { isOn: true }, '/')
  const key = generateP256KeyPair()
  const env = environmentOf(
    { url, organizationId: '6b7f1f4c-5c6f-4a3e-9b1a-000000000001' },
    testFolder(),
    key.privateKey,
  )
  const { stderr, exit } = await quorate(['whoami'], { env })
  expect(exit).toBe(1)
  expect(stderr.match(/^Waiting: whoami, try \d of 6: the API answered: boom; again in [\d.]+ s$/gm)).toHaveLength(5)
})

/** The address of a proxy that answers paths which begin so with 500 while faults are on. */
async function failingSubmits(url: string, faults: { readonly isOn: boolean }, begin = '/public/v1/submit/') {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    if (faults.isOn && request.url!.startsWith(begin)) {
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"code":13,"message":"boom"}')
      return
    }
    const { host: _, connection: __, ...headers } = request.headers as Record<string, string>
    const answer = await fetch(url + request.url, { method: request.method!, headers, body })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
