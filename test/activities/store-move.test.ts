/** A plan store that leaves its folder for a server that machines share. */
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  createPlanStore,
  movePlanStore,
  parseStorePlace,
  readStoreStanding,
  type SendOrder,
} from '../../activities/index.ts'
import { createPlaces, isThere, type PlaceName, S3_CREDENTIALS } from './store-places.ts'

const places = createPlaces()
beforeAll(() => {
  for (const [name, value] of Object.entries(S3_CREDENTIALS)) vi.stubEnv(name, value)
})
afterAll(async () => {
  await places.close()
  vi.unstubAllEnvs()
})

function orderOf(reference: string, value = '1'): SendOrder {
  return {
    reference,
    organization: { name: 'acme', id: '00000000-0000-4000-8000-000000000001', baseUrl: 'http://127.0.0.1:1' },
    type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
    parameters: { from: '0x01', caip2: 'eip155:11155111', to: '0x02', value },
    from: 'treasury',
    to: 'payroll',
    amount: `${value} wei`,
    orderedAt: '2026-01-01T00:00:00.000Z',
  }
}

const { organization } = orderOf('')

/** A folder with sends under way and ended, a batch's bytes, and a run. */
async function filled(...references: readonly string[]) {
  const folder = places.folderOf()
  const { sends, runs, putBody } = createPlanStore(folder)
  for (const reference of references) {
    const { sendId } = await sends.enter(orderOf(reference))
    const entry = await sends.getEntry(sendId)
    await sends.enterBody(entry, await putBody(JSON.stringify({ reference })))
    await sends.putProgress({ sendId, reference, state: 'submitting' })
    await sends.putProgress({ sendId, reference, state: 'included' })
  }
  await runs.open(`sha256:${'a'.repeat(64)}`)
  return folder
}

const listed = async (folder: string) => {
  const { sends } = createPlanStore(folder)
  const orders = await sends.list(organization.id)
  return Promise.all(
    orders.map(async ({ sendId, order }) => [order.reference, (await sends.getProgress(sendId))?.state]),
  )
}

describe.each((['PostgreSQL', 'S3'] as const satisfies PlaceName[]).filter(isThere))('moved to %s', (name) => {
  test('it is there whole, for each machine that has its key, and moving it again changes nothing', async () => {
    const place = parseStorePlace((await places.begin(name)).url!)
    const folder = await filled('INV-1', 'INV-2', 'INV-3')
    const before = await listed(folder)
    const moved = await movePlanStore(folder, place)
    expect(moved).toMatchObject({ references: 3, put: moved.objects, digest: expect.stringMatching(/^sha256:/) })
    expect((await listed(folder)).sort()).toEqual(before.sort())
    expect(await movePlanStore(folder, place)).toMatchObject({ references: 3, put: 0 })

    const other = places.folderOf()
    await expect(movePlanStore(other, place)).rejects.toMatchObject({ code: 'apply/store-key' })
    copyFileSync(`${folder}.key`, join(other, '..', 'copied.key'))
    await movePlanStore(other, place, { keyFile: join(other, '..', 'copied.key') })
    expect((await listed(other)).sort()).toEqual(before.sort())
    await createPlanStore(other).sends.enter(orderOf('INV-4'))
    expect(await listed(folder)).toHaveLength(4)
    expect(await readStoreStanding(other)).toMatchObject({ references: 4 })
    // Nothing of it is in the folder of the machine that joined.
    expect(existsSync(other)).toBe(false)
  })

  test('a folder that has another key joins with its records marked by the key of the place', async () => {
    const place = parseStorePlace((await places.begin(name)).url!)
    const [first, second] = [await filled('INV-1'), await filled('INV-2')]
    await movePlanStore(first, place)
    await expect(movePlanStore(second, place)).rejects.toMatchObject({ code: 'apply/store-key' })
    expect(await listed(second)).toEqual([['INV-2', 'included']])
    copyFileSync(`${first}.key`, join(second, '..', 'first.key'))
    await movePlanStore(second, place, { keyFile: join(second, '..', 'first.key') })
    for (const folder of [first, second])
      expect((await listed(folder)).map(([name]) => name).sort()).toEqual(['INV-1', 'INV-2'])
  })

  test('a reference that the place has for another send is refused, and nothing was moved', async () => {
    const place = parseStorePlace((await places.begin(name)).url!)
    const [first, second] = [await filled('INV-1'), places.folderOf()]
    await movePlanStore(first, place)
    copyFileSync(`${first}.key`, `${second}.key`)
    await createPlanStore(second).sends.enter(orderOf('INV-1', '2'))
    await createPlanStore(second).sends.enter(orderOf('INV-2'))
    await expect(movePlanStore(second, place)).rejects.toMatchObject({
      code: 'apply/store-conflict',
      message: expect.stringContaining('reference `INV-1`'),
      facts: { changed: 'nothing' },
    })
    expect(await listed(first)).toHaveLength(1)
    expect(await listed(second)).toHaveLength(2)
  })

  test('what the place has lost since is missed, by a look, by the ledger and by the next send', async () => {
    const store = await places.begin(name)
    const folder = await filled('INV-1')
    await movePlanStore(folder, parseStorePlace(store.url!))
    const { sends } = createPlanStore(folder)
    const [{ sendId } = { sendId: '' }] = await sends.list(organization.id)
    await store.raw.remove(`sends/${sendId}`)
    await expect(readStoreStanding(folder)).rejects.toMatchObject({ code: 'apply/record-missing' })
    await expect(createPlanStore(folder).sends.enter(orderOf('INV-1', '2'))).rejects.toMatchObject({
      code: 'apply/record-missing',
    })
  })
})

test('a process that has opened the folder writes nothing there once it has moved', async () => {
  const place = parseStorePlace((await places.begin('S3')).url!)
  const folder = await filled('INV-1')
  const before = createPlanStore(folder)
  await before.sends.list(organization.id)
  await movePlanStore(folder, place)
  await expect(before.sends.enter(orderOf('INV-2'))).rejects.toMatchObject({
    code: 'apply/store-failed',
    message: expect.stringContaining('was moved to s3://'),
  })
})

test('ended anywhere on its way it is neither here nor there, and the same command ends it', async () => {
  const server = await places.s3()
  for (const after of [1, 4, 9, 16, 25]) {
    const place = parseStorePlace((await places.begin('S3')).url!)
    const folder = await filled('INV-1', 'INV-2')
    const before = (await listed(folder)).sort()
    let asked = 0
    server.onAsked = () => {
      if (++asked > after) server.failing = { count: 1, status: 403, code: 'AccessDenied' }
    }
    await expect(movePlanStore(folder, place)).rejects.toMatchObject({ code: 'apply/store-failed' })
    server.onAsked = undefined
    server.failing.count = 0
    const now = await listed(folder).catch((error: { code: string; next: string }) => error)
    // Before anything was put there it is in its folder as it was; from then on nobody works with half of it.
    if (Array.isArray(now)) expect(now.sort()).toEqual(before)
    else expect(now).toMatchObject({ code: 'apply/store-failed', next: expect.stringContaining('plan-store use') })
    await movePlanStore(folder, place)
    expect((await listed(folder)).sort()).toEqual(before)
  }
})

test.each([
  ['https://example.com/x', 'neither PostgreSQL nor S3'],
  ['postgres://custody:hunter2@db.example.com/quorate', 'does not say how the way there is protected'],
  ['s3://bucket?endpoint=ftp://x', 'no http or https URL'],
  ['s3://bucket?versioning=off', 'no parameter `versioning`'],
])('%s is no place, and is not shown with its password', (url, why) => {
  expect(() => parseStorePlace(url)).toThrow(why)
  expect(() => parseStorePlace(url)).not.toThrow('hunter2')
})
