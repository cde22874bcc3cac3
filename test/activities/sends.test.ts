import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createActivities, createPlanStore, type SendOrder } from '../../activities/index.ts'
import { silentLogger } from '../../src/telemetry/index.ts'

const order = (reference: string): SendOrder => ({
  reference,
  organization: { name: 'acme', id: '00000000-0000-4000-8000-000000000001', baseUrl: 'http://127.0.0.1:1' },
  type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
  parameters: { from: '0x01', caip2: 'eip155:1', to: '0x02', value: '1' },
  from: 'treasury',
  to: 'payroll',
  amount: '1 wei',
  orderedAt: '2026-01-01T00:00:00.000Z',
})

test('sends: two that pay the same to the same in one millisecond have bytes of their own, however often they are made', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-ledger-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const planStore = createPlanStore(folder)
  const clientFor = () => {
    throw new Error('nothing is asked of the API')
  }
  const { prepareSend } = createActivities({ clientFor, planStore, clock: () => 0, logger: silentLogger })
  const references = Array.from({ length: 12 }, (_, n) => `INV-${n}`)
  const entered = await Promise.all(references.map((reference) => planStore.sends.enter(order(reference))))
  const timestampMs = Date.parse('2026-01-01T00:00:00Z')
  const prepareAll = () => Promise.all(entered.map(({ sendId }) => prepareSend({ sendId, timestampMs, attempt: 0 })))
  const first = await prepareAll()
  expect(new Set(first.map(({ fingerprint }) => fingerprint)).size).toBe(references.length)
  expect(await prepareAll()).toEqual(first)
  // A worker that dies between two steps of this begins them again, with the same time or another.
  const later = await prepareSend({ sendId: entered[0]!.sendId, timestampMs: timestampMs + 5, attempt: 0 })
  expect(later).toEqual(first[0])
  const bodies = await Promise.all(first.map(({ fingerprint }) => planStore.getBody(fingerprint)))
  const times = bodies.map((body) => Number(JSON.parse(body).timestampMs)).toSorted((a, b) => b - a)
  expect(times).toEqual(references.map((_, n) => timestampMs - n))
})
