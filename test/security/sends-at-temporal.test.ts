/**
 * A stranger at Temporal ends, cancels and resets sends, and hands in again what they kept of them, which is authentic: it costs
 * time. A reference is paid once, no vote comes back that was taken back, and what the ledger says does not go backwards.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SendOrder, type SendProgress, sendIdOf } from '../../activities/index.ts'
import type { send, sendBatch } from '../../workflows/index.ts'
import { type Anvil, startAnvil } from '../service/sends/anvil.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'
import { batchOf } from '../workflows/send-stage.ts'
import { type Stranger, strangerAt } from './hostile-temporal.ts'
import { openTrustStage, type TrustStage } from './trust-stage.ts'

let anvil: Anvil
let stage: TrustStage
let stranger: Stranger
let from: string
/** What a stranger does when a step is done and nobody knows it yet. */
let afterStep: (name: string) => Promise<void> = async () => {}
beforeAll(async () => {
  anvil = await startAnvil()
  stage = await openTrustStage({
    chains: { [SEPOLIA]: { url: anvil.url, pollMs: 50 } },
    afterStep: (name) => afterStep(name),
  })
  stranger = strangerAt(stage.temporal)
  from = (await makeWallet(stage.service.root, ETHEREUM)).accounts[0]!.address
  await anvil.fund(from, 100)
})
afterAll(async () => {
  await stage.close()
  await anvil.kill()
})

const orderOf = (reference: string): SendOrder => ({
  reference,
  organization: { name: 'acme', id: stage.organizationId, baseUrl: stage.service.url },
  type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
  parameters: { from, caip2: SEPOLIA, to: '0x00000000000000000000000000000000000000b0', value: '1' },
  from: 'treasury',
  to: 'payroll',
  amount: '1 wei',
  orderedAt: '2026-01-01T00:00:00.000Z',
})
const idOf = (order: SendOrder) => `send/${stage.organizationId}/${sendIdOf(order)}`
const inputOf = (order: SendOrder) => ({ organizationId: stage.organizationId, sendId: sendIdOf(order) })
type Input = Parameters<typeof send>[0]

/** As `quorate send` does. `carried` makes it a run that goes on from an earlier one. */
async function begin(order: SendOrder, carried?: Input['carried']) {
  await stage.store.sends.enter(order)
  return stage.temporal.client.workflow.start<typeof send>('send', {
    workflowId: idOf(order),
    taskQueue: stage.taskQueue,
    args: [{ ...inputOf(order), ...(carried === undefined ? {} : { carried }) }],
    workflowTaskTimeout: '2s',
    workflowIdConflictPolicy: 'USE_EXISTING',
  })
}
const evil = (order: SendOrder) => stranger.client.workflow.getHandle(idOf(order))
const counts = async () => ({
  paid: Number(await anvil.rpc<string>('eth_getTransactionCount', from, 'latest')),
  asked: await stage.count('ACTIVITY_TYPE_ETH_SEND_TRANSACTION'),
})
const more = ({ paid, asked }: Awaited<ReturnType<typeof counts>>, by: number) => ({
  paid: paid + by,
  asked: asked + by,
})
const ledgerOf = (order: SendOrder) => stage.store.sends.getProgress(sendIdOf(order))
const until = (order: SendOrder, state: SendProgress['state']) =>
  expect.poll(async () => (await ledgerOf(order))?.state).toBe(state)

/** Starts what was started before, by the very payload that its history holds: no key is needed for it. */
async function startAgain(order: SendOrder, input: object) {
  await stranger.client.workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId: idOf(order),
    workflowType: { name: 'send' },
    taskQueue: { name: stage.taskQueue },
    input,
    requestId: `again ${Math.random()}`,
  })
}
/** The payload of a start with this state, as a run that went on from an earlier one has it in its history. */
async function kept(order: SendOrder, carried: NonNullable<Input['carried']>) {
  await stage.stopWorker()
  const handle = await begin(order, carried)
  const { events } = await handle.fetchHistory()
  await evil(order).terminate()
  await stage.startWorker()
  return events![0]!.workflowExecutionStartedEventAttributes!.input!
}

describe('a send', () => {
  test('that is terminated after any of its steps is paid once when it is asked for again', async () => {
    const before = await counts()
    const steps = ['loadSend', 'prepareSend', 'submitSend', 'readTransaction', 'recordSend']
    for (const step of steps) {
      const order = orderOf(`INV-END-${step}`)
      let ended = false
      afterStep = async (name) => {
        if (name !== step || ended) return
        ended = true
        await evil(order).terminate()
      }
      const handle = await begin(order)
      await handle.result().catch(() => {})
      expect([step, ended]).toEqual([step, true])
      expect(await (await begin(order)).result()).toMatchObject({ state: 'included' })
      expect(await ledgerOf(order)).toMatchObject({ state: 'included' })
    }
    afterStep = async () => {}
    expect(await counts()).toEqual(more(before, steps.length))
  })

  test('that is cancelled by Temporal’s own request goes on to its end, as what was ordered', async () => {
    const before = await counts()
    const order = orderOf('INV-CANCEL')
    afterStep = async (name) => {
      if (name === 'prepareSend' || name === 'submitSend')
        await evil(order)
          .cancel()
          .catch(() => {})
    }
    const handle = await begin(order)
    expect(await handle.result()).toMatchObject({ state: 'included' })
    afterStep = async () => {}
    expect(await ledgerOf(order)).toMatchObject({ state: 'included' })
    expect(await counts()).toEqual(more(before, 1))
  })

  test('that is reset to its beginning ends as it did', async () => {
    const order = orderOf('INV-RESET')
    const handle = await begin(order)
    const first = await handle.result()
    const before = await counts()
    const { runId } = await handle.describe()
    await stranger.client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: handle.workflowId, runId },
      workflowTaskFinishEventId: 4 as never,
      requestId: 'reset',
    })
    const latest = stage.temporal.client.workflow.getHandle<typeof send>(handle.workflowId)
    expect((await latest.describe()).runId).not.toBe(runId)
    expect(await latest.result()).toMatchObject({ state: 'included', transactionHash: first.transactionHash! })
    expect(await counts()).toEqual(before)
  })

  test('whose older state is handed in again is not paid again, and the ledger does not go back to it', async () => {
    const order = orderOf('INV-OLD')
    const first = { sendId: sendIdOf(order), reference: order.reference }
    const inputs = [await kept(order, { ...first, state: 'submitting' })]
    const { transactionHash, activityId } = await (await begin(order)).result()
    for (const state of ['waiting', 'broadcasting'] as const) {
      inputs.push(await kept(order, { ...first, state, activityId: activityId!, needsVote: state === 'waiting' }))
    }
    const before = await counts()
    const seen = new Set<string | undefined>()
    afterStep = async () => {
      seen.add((await ledgerOf(order))?.state)
    }
    for (const input of inputs) {
      await startAgain(order, input)
      const handle = stage.temporal.client.workflow.getHandle<typeof send>(idOf(order))
      expect(await handle.result()).toMatchObject({ state: 'included', transactionHash })
    }
    afterStep = async () => {}
    expect([...seen]).toEqual(['included'])
    expect(await counts()).toEqual(before)
  })

  test('does not take over a state that was kept of another', async () => {
    const [one, other] = [orderOf('INV-ONE'), orderOf('INV-OTHER')]
    const paid = await (await begin(one)).result()
    const foreign = await kept(one, paid)
    await stage.store.sends.enter(other)
    const before = await counts()
    await startAgain(other, foreign)
    await expect(evil(other).result()).rejects.toThrow()
    expect([await ledgerOf(other), await counts()]).toEqual([undefined, before])
  })
})

test('a batch that is cancelled or terminated leaves each row paid once when it is asked for again', async () => {
  const batch = batchOf([1, 2, 3].map((row) => orderOf(`ROW-${row}`)))
  await stage.store.batches.put(batch)
  const before = await counts()
  const start = () =>
    stage.temporal.client.workflow.start<typeof sendBatch>('sendBatch', {
      workflowId: `send-batch/${stage.organizationId}/${batch.batchId}`,
      taskQueue: stage.taskQueue,
      args: [{ organizationId: stage.organizationId, batchId: batch.batchId }],
      workflowTaskTimeout: '2s',
    })
  const first = await start()
  // This run alone: what is on its way when it has ended must not reach the next.
  const forged = stranger.client.workflow.getHandle(first.workflowId, first.firstExecutionRunId)
  await forged.cancel()
  afterStep = async (name) => {
    if (name === 'submitBatched') await forged.terminate().catch(() => {})
  }
  await until(batch.rows[0]!.order, 'broadcasting')
  await first.result().catch(() => {})
  afterStep = async () => {}
  expect(await (await start()).result()).toMatchObject({ over: true, counts: { included: 3 } })
  expect(await counts()).toEqual(more(before, 3))
})

describe('where two must approve', () => {
  beforeAll(() => stage.needTwo())

  test('what was rejected stays so under an older state: no vote is cast for it, and nothing is asked for anew', async () => {
    const order = orderOf('INV-REJECTED')
    const handle = await begin(order)
    await until(order, 'waiting')
    const waiting = (await ledgerOf(order))!
    await stage.bob.client.reject(waiting.fingerprint!)
    await handle.signal('nudge')
    expect(await handle.result()).toMatchObject({ state: 'rejected' })
    const before = await counts()
    const submits = stage.submits.length
    await startAgain(order, await kept(order, { ...waiting, needsVote: true }))
    const again = stage.temporal.client.workflow.getHandle<typeof send>(idOf(order))
    expect(await again.result()).toMatchObject({ state: 'rejected' })
    expect([stage.submits.slice(submits), await counts()]).toEqual([[], before])
    expect(await ledgerOf(order)).toMatchObject({ state: 'rejected' })
  })

  test('one that waits is ended and begun again any number of times: it is one activity with one vote of ours', async () => {
    const order = orderOf('INV-WAITS')
    const before = await counts()
    for (let round = 0; round < 3; round++) {
      await begin(order)
      await until(order, 'waiting')
      await evil(order).terminate()
    }
    const handle = await begin(order)
    const { activityId, fingerprint } = (await ledgerOf(order))!
    expect((await stage.read(activityId!)).votes).toHaveLength(1)
    await stage.bob.client.approve(fingerprint!)
    await handle.signal('nudge')
    expect(await handle.result()).toMatchObject({ state: 'included' })
    expect(await counts()).toEqual(more(before, 1))
  })
})
