import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createActivities, createPlanStore } from '../../activities/index.ts'
import { silentLogger } from '../../src/telemetry/index.ts'
import { orderOf as order } from './order.ts'

const ledgerOfTest = () => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-ledger-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return createPlanStore(join(folder, 'plans'))
}
const bytes = (n: number) => `sha256:${String(n).padStart(64, '0')}`
const STOPPED = { code: 'apply/send-stopped' }

test('a send that was given up frees its reference when the API says so too, once, and its state stays', async () => {
  const { sends } = ledgerOfTest()
  const { sendId } = await sends.enter(order('INV-1'))
  const told = { sendId, reference: 'INV-1', state: 'given up' } as const
  const never = async (): Promise<boolean> =>
    Promise.reject(new Error('the API is asked about what was given up alone'))
  expect(await sends.release(sendId, never)).toBe(true)
  expect(await sends.findOrder(sendId)).toEqual(order('INV-1'))
  await sends.putProgress(told)
  expect(await sends.release(sendId, async () => false)).toBe(false)
  await sends.putProgress({ ...told, state: 'submitting' })
  expect([await sends.findOrder(sendId), await sends.getProgress(sendId)]).toEqual([order('INV-1'), told])
  const other = { ...order('INV-1'), amount: '2 wei' }
  expect(await sends.release(sendId, async ({ order: asked }) => asked.amount === order('INV-1').amount)).toBe(true)
  expect((await sends.enter(other)).order).toEqual(other)
  expect(await sends.getProgress(sendId)).toBeUndefined()
  // Another terminal that has looked before: what is there now is joined, and not freed.
  expect(await sends.release(sendId, never)).toBe(true)
  expect(await sends.findOrder(sendId)).toEqual(other)
})

describe('a send that is stopped', () => {
  test('before it has bytes never gets any, and its reference is free for another order', async () => {
    const { sends } = ledgerOfTest()
    const { sendId } = await sends.enter(order('INV-1'))
    const old = await sends.getEntry(sendId)
    expect([await sends.stop(sendId), await sends.findOrder(sendId), await sends.isStopped(sendId)]).toEqual([
      true,
      undefined,
      true,
    ])
    await expect(sends.getEntry(sendId)).rejects.toMatchObject(STOPPED)
    const other = { ...order('INV-1'), amount: '2 wei' }
    expect((await sends.enter(other)).order).toEqual(other)
    // A worker on the earlier order that wakes late does not touch the one after it.
    await expect(sends.enterBody(old, bytes(1))).rejects.toMatchObject(STOPPED)
    expect(await sends.enterBody(await sends.getEntry(sendId), bytes(2))).toBe(bytes(2))
    expect(await sends.list(order('').organization.id)).toEqual([{ sendId, order: other, stopped: false }])
  })

  test('while its bytes wait for their turn lets them out no more', async () => {
    const { sends } = ledgerOfTest()
    const { sendId } = await sends.enter(order('INV-1'))
    const entry = await sends.getEntry(sendId)
    await sends.enterBody(entry, bytes(1))
    expect(await sends.stop(sendId)).toBe(true)
    await expect(sends.letOut(entry, bytes(1))).rejects.toMatchObject(STOPPED)
  })

  test('is stopped when the API has certainly not taken it up, and not before', async () => {
    const { sends } = ledgerOfTest()
    const { sendId } = await sends.enter(order('INV-1'))
    const entry = await sends.getEntry(sendId)
    await sends.enterBody(entry, bytes(1))
    const gate = await sends.letOut(entry, bytes(1))
    expect([await sends.stop(sendId), await sends.findOrder(sendId)]).toEqual([false, entry.order])
    await gate.giveBack()
    await expect(sends.letOut(entry, bytes(1))).rejects.toMatchObject(STOPPED)
    expect(await sends.isStopped(sendId)).toBe(true)
  })

  test('goes on where nobody knows whether it was submitted', async () => {
    const { sends } = ledgerOfTest()
    const { sendId } = await sends.enter(order('INV-1'))
    const entry = await sends.getEntry(sendId)
    await sends.enterBody(entry, bytes(1))
    const first = await sends.letOut(entry, bytes(1))
    // The worker of the first request seemed dead; another one sent the same bytes, and only then the first gave back.
    const second = await sends.letOut(entry, bytes(1))
    await first.giveBack()
    await second.giveBack()
    expect([await sends.stop(sendId), await sends.isStopped(sendId)]).toEqual([false, false])
    await sends.letOut(entry, bytes(1))
  })

  test('has no request on its way, however requests and stops meet', async () => {
    const { sends } = ledgerOfTest()
    const seen = { stopped: 0, sent: 0 }
    for (let round = 0; round < 40; round++) {
      const { sendId } = await sends.enter(order(`INV-${round}`))
      const entry = await sends.getEntry(sendId)
      await sends.enterBody(entry, bytes(round))
      let [out, stopped] = [0, false]
      const request = async (fails: boolean) => {
        const gate = await sends.letOut(entry, bytes(round)).catch((error: unknown) => {
          expect(error).toMatchObject(STOPPED)
        })
        if (!gate) return
        expect(stopped).toBe(false)
        out++
        await new Promise((resolve) => setTimeout(resolve, round % 3))
        if (!fails) return
        out--
        await gate.giveBack()
      }
      const stop = async () => {
        await new Promise((resolve) => setTimeout(resolve, round % 5))
        if (!(await sends.stop(sendId))) return
        expect(out).toBe(0)
        stopped = true
      }
      const twice = async () => {
        await request(true)
        await request(round % 2 === 0)
      }
      // A rival finds the gate held, and what becomes of that request is unknown from then on: few are stopped beside one.
      const rival = round % 4 < 2 ? [request(true)] : []
      await Promise.all([twice(), ...rival, stop(), stop()])
      // One that was asked to stop while it was out is stopped by the request that gives back last.
      stopped = await sends.isStopped(sendId)
      if (stopped) expect(out).toBe(0)
      seen[stopped ? 'stopped' : 'sent']++
    }
    expect(Math.min(seen.stopped, seen.sent)).toBeGreaterThan(0)
  })
})

test('sends: two that pay the same to the same have bytes of their own, the same ones in every folder', async () => {
  const references = Array.from({ length: 12 }, (_, n) => `INV-${n}`)
  const timestampMs = Date.parse('2026-01-01T00:00:00Z')
  const folder = async () => {
    const planStore = ledgerOfTest()
    const clientFor = () => {
      throw new Error('nothing is asked of the API')
    }
    const { prepareSend } = createActivities({ clientFor, planStore, clock: () => 0, logger: silentLogger })
    const entered = await Promise.all(references.map((reference) => planStore.sends.enter(order(reference))))
    const prepareAll = (timestampMs: number) =>
      Promise.all(entered.map(({ sendId }) => prepareSend({ sendId, timestampMs })))
    return { planStore, prepareAll }
  }
  const { planStore, prepareAll } = await folder()
  const first = await prepareAll(timestampMs)
  expect(new Set(first.map(({ fingerprint }) => fingerprint)).size).toBe(references.length)
  // A worker that dies between two steps of this begins them again, with the same time or another.
  expect(await prepareAll(timestampMs + 5)).toEqual(first)
  expect(await (await folder()).prepareAll(timestampMs + 1)).toEqual(first)
  for (const { fingerprint } of first) {
    const time = Number(JSON.parse(await planStore.getBody(fingerprint)).timestampMs)
    expect(timestampMs - time).toBeGreaterThanOrEqual(0)
    expect(timestampMs - time).toBeLessThan(60 * 60 * 1000)
  }
})
