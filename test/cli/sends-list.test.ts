import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createPlanStore } from '../../activities/index.ts'
import { ensurePrivateFolder, writePrivate } from '../../src/local/index.ts'
import { orderOf } from '../activities/order.ts'
import { quorateShared as quorate, testFolder } from './harness.ts'

test('sends: looking at a data folder starts nothing, and says where nothing runs that would carry on what is open', async () => {
  const folder = testFolder()
  const look = () => quorate(['sends', '--data-dir', join(folder, 'data')], { env: {}, cwd: folder })
  const empty = await look()
  expect([empty.exit, empty.stderr]).toEqual([0, 'Nothing was sent from here.\n'])
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
