import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPlanStore, sendIdOf } from '../../activities/index.ts'
import { ensurePrivateFolder, writePrivate } from '../../src/local/index.ts'
import { orderOf } from '../activities/order.ts'
import { countActivities, quorateShared as quorate, testFolder } from './harness.ts'
import { machineOf, orderOf as paydayOrder } from './machine.ts'
import { type Payday, payday } from './payday.ts'

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
    expect.stringContaining('`quorate up` starts it'),
  ])
  expect(existsSync(join(folder, 'data', 'background'))).toBe(false)
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
})
