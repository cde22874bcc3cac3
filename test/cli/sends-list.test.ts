import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { batchIdOf, createPlanStore, type SendProgress, sendIdOf } from '../../activities/index.ts'
import { createStyle } from '../../src/cli/io.ts'
import { renderListedSend } from '../../src/cli/views/send.ts'
import type { QueryClient } from '../../src/client/index.ts'
import { ensurePrivateFolder, writePrivate } from '../../src/local/index.ts'
import { choosePorts } from '../../src/loopback/index.ts'
import { askedAnew, withOffered } from '../../src/sending/index.ts'
import { orderOf } from '../activities/order.ts'
import { startBetween } from '../faults/between.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { testTemporalEnvironment } from '../temporal.ts'
import { countActivities, keyFile, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { machineOf, orderOf as paydayOrder } from './machine.ts'
import { type Payday, payday } from './payday.ts'
import { startCommand } from './started.ts'

test('sends: looking at a data folder starts nothing, and says where nothing runs that would carry on what is open', async () => {
  const folder = testFolder()
  const look = () => quorate(['sends', '--data-dir', join(folder, 'data')], { env: {}, cwd: folder })
  const empty = await look()
  expect([empty.exit, empty.stderr]).toEqual([1, expect.stringContaining('error cli/no-service-here')])
  expect(existsSync(join(folder, 'data'))).toBe(false)

  const order = orderOf('INV-42')
  const organizationId = order.organization.id
  const service = join(folder, 'data', 'service')
  ensurePrivateFolder(service)
  writePrivate(join(service, 'bootstrap.json'), JSON.stringify({ organizationId }))
  await createPlanStore(join(folder, 'data', 'plans')).sends.enter(order)
  const { exit, stdout, stderr } = await look()
  expect([exit, stdout, stderr]).toEqual([
    0,
    expect.stringContaining('INV-42'),
    expect.stringMatching(/ away +nothing runs for \S+data\n +next +bring it up with `quorate up`: /),
  ])
  expect(existsSync(join(folder, 'data', 'background'))).toBe(false)
})

test('sends: of what may have been submitted it says that nothing asks about it where nothing runs, and what starts that', async () => {
  const folder = testFolder()
  const dataDir = join(folder, 'data')
  const order = orderOf('INV-42')
  const { organization, orderedAt } = order
  ensurePrivateFolder(join(dataDir, 'service'))
  writePrivate(join(dataDir, 'service/bootstrap.json'), JSON.stringify({ organizationId: organization.id }))
  writePrivate(join(dataDir, 'background.json'), JSON.stringify({ pid: 2 ** 30 }))
  const { sends, batches } = createPlanStore(join(dataDir, 'plans'))
  const { sendId } = await sends.enter(order)
  await sends.enterBody(await sends.getEntry(sendId), `sha256:${'1'.repeat(64)}`)
  const batchId = batchIdOf(organization.id, [order])
  await batches.put({ batchId, organization, file: 'march.csv', orderedAt, rows: [{ line: 2, order }] })
  const look = (...more: readonly string[]) =>
    quorate(['sends', '--data-dir', dataDir, ...more], { env: {}, cwd: folder })
  const next =
    'nothing asks about it now: bring it up with `quorate up`: what is open goes on then, and nothing is sent twice'
  const list = await look()
  expect(list.stdout).toMatch(/^INV-42 .* unknown: it may have been submitted, and nothing asks about it now$/m)
  expect(list.stderr).toContain(`  next       INV-42: ${next}\n`)
  expect(list.stderr).toMatch(/ away +nothing runs for \S+data: its background process died/)
  const batch = await look('--batch', batchId)
  expect(batch.stdout).toContain(`  next       INV-42: ${next}\n1 row: 1 unknown`)
  for (const { stdout } of [list, batch]) expect(stdout).not.toContain('is asked about')
  expect(JSON.parse((await look('--json')).stdout).sends).toMatchObject([{ state: 'unknown', next }])
  expect(JSON.parse((await look('--batch', batchId, '--json')).stdout).rows).toMatchObject([{ state: 'unknown', next }])

  await sends.putProgress({ sendId, reference: 'INV-42', state: 'broadcasting', activityId: 'a' })
  const recorded = / as last recorded at \d{4}-\d\d-\d\dT[\d:.]+Z$/m
  expect((await look()).stdout).toMatch(recorded)
  expect((await look('--batch', batchId)).stdout).toMatch(recorded)
  const held = {
    recordedAt: expect.any(String),
    state: 'broadcasting',
    next: next.replace('nothing asks about it', 'nobody carries it out'),
  }
  expect(JSON.parse((await look('--json')).stdout).sends).toMatchObject([held])
})

describe('what is away of what would carry on what is open', () => {
  const order = orderOf('INV-42')

  /** A ledger with one open send, of which all is away that is not given. */
  async function openSend(given: Readonly<Record<string, string>>) {
    const folder = testFolder()
    const ledger = createPlanStore(join(folder, 'data/plans'))
    const { sendId } = await ledger.sends.enter(order)
    const { organization, orderedAt } = order
    const batchId = batchIdOf(organization.id, [order])
    await ledger.batches.put({ batchId, organization, file: 'march.csv', orderedAt, rows: [{ line: 2, order }] })
    const env = {
      ...given,
      QUORATE_ORGANIZATION_ID: order.organization.id,
      QUORATE_DATA_DIR: join(folder, 'data'),
      QUORATE_API_KEY_FILE: keyFile(folder, 'key', 'ab'.repeat(32)),
    }
    return { env, folder, batchId, sendId, sends: ledger.sends }
  }

  async function look(given: Readonly<Record<string, string>>) {
    const { env, batchId } = await openSend(given)
    const text = await quorate(['sends'], { env })
    const data = await quorate(['sends', '--json'], { env })
    expect([text.exit, data.exit], text.stderr + data.stderr).toEqual([0, 0])
    expect(text.stdout).toContain('INV-42')
    const batch = await quorate(['sends', '--batch', batchId, '--json'], { env })
    expect(JSON.parse(batch.stdout).away).toEqual(JSON.parse(data.stdout).away)
    const { away } = JSON.parse(data.stdout) as { away: readonly { part: string; found: string; next: string }[] }
    for (const { found, next } of away) expect(text.stderr).toContain(`  away       ${found}\n  next       ${next}\n`)
    return away.map(({ part, found }) => `${part}: ${found}`)
  }

  test('a server and an API that are dead', async () => {
    const [dead] = await choosePorts(1)
    const at = `127.0.0.1:${dead}`
    expect(await look({ QUORATE_BASE_URL: `http://${at}`, TEMPORAL_ADDRESS: at })).toEqual([
      `Temporal: no Temporal server answers at \`${at}\``,
      `API: the API at \`http://${at}\` cannot be reached: ECONNREFUSED`,
    ])
  })

  test('those that take connections and do not answer', async () => {
    const silent = createTcpServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const at = `127.0.0.1:${(silent.address() as AddressInfo).port}`
    expect(await look({ QUORATE_BASE_URL: `http://${at}`, TEMPORAL_ADDRESS: at })).toEqual([
      expect.stringMatching(/^Temporal: .* takes connections and does not answer$/),
      expect.stringMatching(/^API: .* takes connections and gives no answer within 7 s$/),
    ])
    silent.close()
  })

  test('an API that is dead is not asked, also for a batch and for what has ended', async () => {
    const [dead] = await choosePorts(1)
    const { env, batchId, sendId, sends } = await openSend({ QUORATE_BASE_URL: `http://127.0.0.1:${dead}` })
    const timed = async (...line: readonly string[]) => {
      const begun = performance.now()
      const { exit, stderr } = await quorate(['sends', ...line], { env })
      expect([exit, stderr]).toEqual([0, expect.not.stringContaining('Waiting')])
      return performance.now() - begun
    }
    const progress = { sendId, reference: order.reference, activityId: 'a', fingerprint: 'sha256:1' } as const
    await sends.putProgress({ ...progress, state: 'waiting' })
    expect(await timed('--batch', batchId)).toBeLessThan(5_000)
    await sends.putProgress({ ...progress, state: 'included', transactionHash: `0x${'1'.repeat(64)}` })
    expect(await timed('--batch', batchId)).toBeLessThan(5_000)
    expect(await timed()).toBeLessThan(5_000)
  })

  test('is told while they are followed, when it goes away and when it comes back', async () => {
    const api = () => createServer((_, answer) => void answer.writeHead(404, { connection: 'close' }).end())
    const first = api()
    await new Promise<void>((resolve) => first.listen(0, '127.0.0.1', resolve))
    const { port } = first.address() as AddressInfo
    const given = { ...(await testTemporalEnvironment()), QUORATE_BASE_URL: `http://127.0.0.1:${port}` }
    const { env, folder } = await openSend(given)
    const follow = startCommand(['sends', '--follow'], { env, home: folder })
    try {
      await follow.says(/ away +no worker polls the task queue .*\n +next +start one with `quorate worker`/)
      first.close()
      first.closeAllConnections()
      await follow.says(/ away +the API at `http:\S+` cannot be reached: ECONNREFUSED\n +next +see that it runs/)
      const second = api()
      await new Promise<void>((resolve) => second.listen(port, '127.0.0.1', resolve))
      await follow.says(/ back +the API answers again\n/)
      second.close()
    } finally {
      follow.kill()
      const { stdout, stderr } = await follow.ended
      expect(stdout.match(/INV-42/g)).toHaveLength(1)
      expect(stderr.match(/no worker polls/g)).toHaveLength(1)
    }
  })

  test('a node of one’s own on the chain of what is open, and no other', async () => {
    const [dead, api] = await choosePorts(2)
    const chains = `eip155:1=http://127.0.0.1:${dead},eip155:10=http://127.0.0.1:${dead}`
    const given = { QUORATE_BASE_URL: `http://127.0.0.1:${api}`, ...(await testTemporalEnvironment()) }
    expect(await look({ ...given, QUORATE_CHAINS: chains })).toEqual([
      expect.stringMatching(/^worker: /),
      expect.stringMatching(/^API: /),
      `node: eip155:1: the node at 127.0.0.1:${dead} does not answer: ECONNREFUSED`,
    ])
  })

  test('a worker, where a server that is named answers', async () => {
    const api = createServer((_, answer) => void answer.writeHead(404).end())
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
    const baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
    expect(await look({ ...(await testTemporalEnvironment()), QUORATE_BASE_URL: baseUrl })).toEqual([
      expect.stringMatching(/^worker: no worker polls the task queue `\S+`$/),
    ])
    api.close()
  })
})

describe('what a workflow has not been told yet', () => {
  const closers: (() => Promise<void>)[] = []
  const atEnd = (close: () => Promise<void>) => closers.push(close)
  let day: Payday
  beforeAll(async () => {
    day = await payday(atEnd)
  })
  afterAll(async () => {
    for (const close of closers.reverse()) await close()
  })

  /** A ledger that nobody carries on, in which sends wait as they did before they were approved. */
  async function waitingLedger(references: readonly string[], first = 41) {
    const dataDir = join(testFolder(atEnd), 'data')
    const { planStore, send } = machineOf(day, { folder: join(dataDir, 'plans') })
    for (const [at, reference] of references.entries()) {
      const order = paydayOrder(day, { reference, value: `${first + at}` })
      const { activityId, fingerprint } = (await send(order)) as { activityId: string; fingerprint: string }
      const sendId = sendIdOf(order)
      await planStore.sends.putProgress({ sendId, reference, state: 'waiting', activityId, fingerprint, approved: [] })
    }
    const look = (baseUrl = day.service.url) =>
      quorate(['sends', '--json', '--data-dir', dataDir], {
        env: { ...day.env, QUORATE_BASE_URL: baseUrl },
        cwd: day.folder,
      })
    return { planStore, look }
  }
  const statesIn = (stdout: string): unknown =>
    (JSON.parse(stdout) as { sends: readonly { reference: string; state: string }[] }).sends.map(
      ({ reference, state }) => [reference, state],
    )

  test('is asked of the API when somebody looks: one that was approved a moment ago is not shown as waiting', async () => {
    const { planStore, look } = await waitingLedger(['ASKED-1', 'ASKED-2', 'ASKED-3', 'ASKED-4', 'ASKED-5'])
    const before = await countActivities(day.service)
    await expect
      .poll(async () => statesIn((await look()).stdout))
      .toEqual([1, 2, 3, 4, 5].map((number) => [`ASKED-${number}`, 'included']))
    expect(await countActivities(day.service)).toBe(before)
    const [{ sendId } = { sendId: '' }] = await planStore.sends.list(day.service.organizationId)
    expect((await planStore.sends.getProgress(sendId))?.state).toBe('waiting')
  })

  test('is asked of the API when somebody looks: whose approvals have lapsed is said, and that they are to vote again', async () => {
    const order = paydayOrder(day, { reference: 'LAPSED', value: '51' })
    const { send } = machineOf(day, { folder: join(testFolder(atEnd), 'plans') })
    const { activityId = '' } = await send(order)
    const { activity } = await day.service.root.query('get_activity', { activityId })
    const told = { activity: { ...activity, status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' } }
    const api = async () => ({ publicKey: '', query: async () => told }) as unknown as QueryClient
    const waiting = { order, progress: { sendId: 's', reference: 'LAPSED', state: 'waiting', activityId } } as const
    const shownAfter = async (hours: number) => {
      const now = () => Date.now() + hours * 60 * 60 * 1000
      const [one] = await askedAnew([waiting], { api, now })
      return renderListedSend(one!, createStyle(false), now())
    }
    expect(await shownAfter(23)).toMatch(/ waiting .* approved by \S+; requested 23 hours ago\n$/)
    expect(await shownAfter(25)).toMatch(
      / waiting .* approved by nobody; requested 1 day ago {2}please vote again: \S+\n$/,
    )
  })

  test('of two for one nonce that are broadcast, the first names the one that was offered in its place', () => {
    const [order, other] = [orderOf('OFFER'), { ...orderOf('OFFER/replace-9gwei'), replaces: 'OFFER' }]
    const at = (one: typeof order, state: 'broadcasting' | 'failed') => ({
      order: one,
      progress: { sendId: sendIdOf(one), reference: one.reference, state },
    })
    const shown = (state: 'broadcasting' | 'failed') =>
      withOffered([at(order, 'broadcasting'), at(other, state)]).map((one) =>
        renderListedSend(one, createStyle(false), 0),
      )
    const offered = '  `OFFER/replace-9gwei` was offered in its place: one of the two is included, and never both\n'
    expect(shown('broadcasting').map((text) => text.endsWith(offered))).toEqual([true, false])
    expect(shown('failed').some((text) => text.includes('was offered'))).toBe(false)
  })

  test('is shown as the ledger has it, soon, where the API gives no answer', async () => {
    const { look } = await waitingLedger(['AWAY'], 61)
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    atEnd(async () => void silent.close())
    const begun = performance.now()
    const { stdout } = await look(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`)
    expect(statesIn(stdout)).toEqual([['AWAY', 'waiting']])
    expect(performance.now() - begun).toBeLessThan(60_000)
  })

  test('is told by `send` of a reference that is known as the API has it, once; where that does not say, as recorded and when', async () => {
    const asked = { ref: 'OUTDATED', amount: '1gwei' }
    const sent = await day.send(['--yes', '--json'], asked)
    const { progress } = JSON.parse(sent.stdout) as { progress: SendProgress }
    const { sends } = createPlanStore(join(day.env['QUORATE_DATA_DIR']!, 'plans'))
    const { receipt: _, ...told } = progress
    await sends.putProgress({ ...told, state: 'broadcasting' })

    const paid = await day.paid()
    const included = /^ {2}already +included, since it was asked for at [-\d:.TZ]+$/m
    expect((await day.send(['--dry-run'], asked)).stdout).toMatch(included)
    const json = JSON.parse((await day.send(['--dry-run', '--json'], asked)).stdout)
    expect(json).toMatchObject({ state: 'included', progress: { state: 'included' } })
    expect(json.recordedAt).toBeUndefined()
    const again = await day.send(['--yes'], asked)
    expect([again.exit, again.stderr]).toEqual([0, expect.stringMatching(included)])
    expect(again.stderr).toMatch(/^included +0x/m)
    expect(again.stderr).not.toMatch(/submitting|waiting|broadcasting/)
    expect(await day.paid()).toBe(paid)

    await sends.putProgress({ ...told, state: 'broadcasting' })
    writeFiles(day.folder, {
      'one.csv': `ref,from,to,amount,chain\nOUTDATED,${day.walletName},payroll,1gwei,${SEPOLIA}\n`,
    })
    const batch = (more: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
      quorate(['send', 'defs', '--batch', 'one.csv', '--dry-run', ...more], {
        env: { ...day.env, ...environment },
        cwd: day.folder,
      })
    const batched = (await batch([])).stdout
    expect(batched).toMatch(/^ {2}already +1 included$/m)
    expect(batched).toMatch(/^ {2}line 2 .* included already$/m)
    expect(JSON.parse((await batch(['--json'])).stdout).rows).toMatchObject([{ row: 2, state: 'included' }])

    const between = await startBetween(day.service.url, ({ path }) =>
      /get_send_transaction_status|get_activity$/.test(path) ? { kind: 'answer', status: 503, body: '{}' } : undefined,
    )
    atEnd(() => between.close())
    const away = { environment: { QUORATE_BASE_URL: between.url } }
    const recorded = await day.send(['--dry-run'], asked, away)
    expect(recorded.stdout).toMatch(
      /^ {2}already +broadcasting, since it was asked for at \S+; as last recorded at \d{4}-\d\d-\d\dT[\d:.]+Z$/m,
    )
    expect(JSON.parse((await day.send(['--dry-run', '--json'], asked, away)).stdout)).toMatchObject({
      state: 'broadcasting',
      recordedAt: expect.stringMatching(/^\d{4}-/),
    })
    expect((await batch([], away.environment)).stdout).toMatch(
      /^ {2}already +1 broadcasting; 1 of them as last recorded, at \d{4}-\S+Z or later$/m,
    )
    expect(JSON.parse((await batch(['--json'], away.environment)).stdout).rows).toMatchObject([
      { state: 'broadcasting', recordedAt: expect.stringMatching(/^\d{4}-/) },
    ])
  })
})
