/** The batch workflow with everything real behind it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SendBatchProgress, sendIdOf } from '../../activities/index.ts'
import type { send } from '../../workflows/index.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser } from '../service/harness.ts'
import { testTemporal } from '../temporal.ts'
import { openSendStage, RECEIVER, REVERTS, type SendStage } from './send-stage.ts'

let stage: SendStage
/** Steps that a test holds back. */
const held: { [Step in 'askBatch' | 'stopBatch']?: Record<'begun' | 'goesOn', PromiseWithResolvers<void>> } = {}
beforeAll(async () => {
  stage = await openSendStage(await testTemporal(), {
    senders: 2,
    activities: (usual) => ({
      askBatch: (input) => heldBack('askBatch', () => usual.askBatch(input)),
      stopBatch: (input) => heldBack('stopBatch', () => usual.stopBatch(input)),
    }),
  })
})
afterAll(() => stage.close())

const orders = (name: string, count: number) =>
  Array.from({ length: count }, (_, row) => stage.orderOf(`${name}-${row}`, { from: stage.senders[row % 2]! }))

/** Sends that go out before a batch is stopped: the others wait, so that it is not at its end, however slow the machine is. */
const FEW = 3

const hasSent = ({ counts }: SendBatchProgress) => counts.broadcasting !== undefined || counts.included !== undefined

async function heldBack<T>(step: keyof typeof held, run: () => Promise<T>): Promise<T> {
  const by = held[step]
  by?.begun.resolve()
  await by?.goesOn.promise
  return run()
}

/** Holds a step back from its next run on, until it is let go. */
function hold(step: keyof typeof held) {
  const one = { begun: Promise.withResolvers<void>(), goesOn: Promise.withResolvers<void>() }
  held[step] = one
  return {
    begun: one.begun.promise,
    letGo() {
      delete held[step]
      one.goesOn.resolve()
    },
  }
}

describe('send batch', () => {
  test('every row is sent once and followed to its end; begun again it sends nothing', async () => {
    const before = await stage.countSends()
    const rows = orders('PAY', 8)
    const first = await stage.begin(rows)
    expect(await first.ended('batch')).toMatchObject({
      counts: { included: 8 },
      submitted: true,
      over: true,
      stopped: false,
    })
    const again = await stage.begin(rows, { run: '/again' })
    expect(await again.ended()).toMatchObject({ counts: { included: 8 }, over: true })
    expect(await stage.countSends()).toBe(before + 8)
  })

  test('two that have rows in common, begun at once, send them once', async () => {
    const before = await stage.countSends()
    const rows = orders('SHARED', 6)
    const both = await Promise.all([stage.begin(rows.slice(0, 4)), stage.begin(rows.slice(2))])
    const ends = await Promise.all(both.map((one) => one.ended()))
    expect(ends.map(({ counts }) => counts)).toEqual([{ included: 4 }, { included: 4 }])
    expect(await stage.countSends()).toBe(before + 6)
  })

  test('a row that fails does not stop the others', async () => {
    const [one, two, three, four] = orders('BAD', 4)
    const reverts = stage.orderOf('BAD-1', { to: REVERTS, gasLimit: '60000' })
    const refused = stage.orderOf('BAD-2', { from: RECEIVER })
    await stage.store.sends.enter(three!)
    const batch = await stage.begin([one!, { ...two!, ...reverts }, refused, four!])
    expect(await batch.ended('batch-failures')).toMatchObject({ over: true, stopped: false })
    // The third has the reference of a send that was ordered before.
    expect(await batch.states()).toEqual(['included', 'failed', 'taken', 'included'])
  })

  test('a send that is begun again once it has come to its end stands there, and asks nobody', async () => {
    const batch = await stage.begin(orders('AGAIN', 1))
    await batch.ended()
    const { organizationId } = stage.service
    const { order } = batch.batch.rows[0]!
    const sendId = sendIdOf(order)
    // As a batch does that surveyed the ledger before the end was there, and tells a workflow that has ended.
    const again = await stage.temporal.client.workflow.start<typeof send>('send', {
      workflowId: `send/${organizationId}/${sendId}`,
      taskQueue: organizationId,
      args: [{ organizationId, sendId, batched: { reference: order.reference } }],
    })
    expect((await again.result()).state).toBe('included')
    expect(await batch.states()).toEqual(['included'])
  })

  test('where a failure is to stop it, nothing more is begun', async () => {
    const before = await stage.countSends()
    const rows = [stage.orderOf('STOP-0', { from: RECEIVER }), ...orders('STOPPED', 11)]
    stage.allow(0, (body) => body.includes(`"from":"${RECEIVER}"`))
    const batch = await stage.begin(rows, { stopOnFailure: true })
    await batch.until(({ stopped }) => stopped)
    stage.allow()
    const progress = await batch.ended()
    expect(progress).toMatchObject({ over: true, stopped: true, counts: { failed: 1 } })
    const begun = (await stage.countSends()) - before
    expect(begun).toBeLessThan(11)
    expect(progress.counts).toEqual({ failed: 1, included: begun, 'not begun': 11 - begun })
  })

  test('stopped, it submits no row that was not, and follows those that were; told to go on, it sends the rest', async () => {
    const before = await stage.countSends()
    const rows = orders('HALT', 40)
    stage.allow(FEW)
    const batch = await stage.begin(rows)
    await batch.until(hasSent)
    await batch.stop()
    await batch.until(({ stopped }) => stopped)
    stage.allow()
    const progress = await batch.ended('batch-stopped')
    const sent = (await stage.countSends()) - before
    expect(sent).toBeLessThan(40)
    expect(progress).toMatchObject({ over: true, stopped: true, counts: { included: sent, stopped: 40 - sent } })

    await stage.store.batches.resume(batch.batch.batchId)
    const again = await stage.begin(rows, { run: '/again' })
    expect(await again.ended()).toMatchObject({ over: true, stopped: false, counts: { included: 40 } })
    expect(await stage.countSends()).toBe(before + 40)
  })

  test('stopped and told to go on while it runs, it begins from the first row', async () => {
    const before = await stage.countSends()
    const rows = orders('ONOFF', 16)
    stage.allow(FEW)
    const batch = await stage.begin(rows)
    await batch.until(hasSent)
    // It does not end before it has asked: so it runs when it is told to go on.
    const asking = hold('askBatch')
    await asking.begun
    await batch.stop()
    await batch.until(({ stopped }) => stopped)
    stage.allow()
    await batch.resume()
    asking.letGo()
    expect(await batch.ended('batch-resumed')).toMatchObject({ over: true, stopped: false, counts: { included: 16 } })
    expect(await stage.countSends()).toBe(before + 16)
  })

  test('told to go on while the step that stops it has not done its work yet, it goes on', async () => {
    const before = await stage.countSends()
    stage.allow(FEW)
    const batch = await stage.begin(orders('LATE', 16))
    await batch.until(hasSent)
    const stopping = hold('stopBatch')
    await batch.stop()
    await stopping.begun
    await batch.resume()
    stopping.letGo()
    stage.allow()
    expect(await batch.ended()).toMatchObject({ over: true, stopped: false, counts: { included: 16 } })
    expect(await stage.countSends()).toBe(before + 16)
  })

  test('rows that it has in common with one that is stopped are still its own to send', async () => {
    const before = await stage.countSends()
    const rows = orders('BOTH', 16)
    stage.allow(FEW)
    const one = await stage.begin(rows)
    const other = await stage.begin(rows.slice(3))
    await one.until(hasSent)
    await one.stop()
    await one.until(({ stopped }) => stopped)
    stage.allow()
    expect(await other.ended()).toMatchObject({ over: true, stopped: false, counts: { included: 13 } })
    expect(await one.ended()).toMatchObject({ over: true, stopped: true })
    const included = (await one.states()).filter((state) => state === 'included').length
    expect(await stage.countSends()).toBe(before + included)
  })

  test('it waits for approvals as long as it takes, and asks about many with one question', async () => {
    const bob = await createTestUser(stage.service, 'bob')
    await complete(stage.service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', {
      threshold: 2,
      userIds: [stage.service.rootUserId, bob.userId],
    })
    const batch = await stage.begin(orders('VOTE', 6))
    await batch.until(({ counts, submitted }) => submitted && counts.waiting === 6)
    const stands = await stage.store.batches.survey(batch.batch)
    for (const [row, { progress }] of stands.entries()) {
      await (row === 2 ? bob.client.reject(progress!.fingerprint!) : bob.client.approve(progress!.fingerprint!))
    }
    const impatient = setInterval(() => void batch.handle.signal('nudge').catch(() => {}), 500)
    expect(await batch.ended('batch-approved')).toMatchObject({ counts: { included: 5, rejected: 1 }, over: true })
    clearInterval(impatient)
    expect((await batch.states())[2]).toBe('rejected')
  })
})
