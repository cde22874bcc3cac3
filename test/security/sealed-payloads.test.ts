/** Without the key of the data folder, access to Temporal is worth time alone: nothing forged is believed, nothing can be read. */
import { Client, type WorkflowHandle } from '@temporalio/client'
import { ApplicationFailure, type Payload } from '@temporalio/common'
import { Worker } from '@temporalio/worker'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { ApplyProgress } from '../../activities/index.ts'
import type { Batch } from '../../src/plan/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { createPayloadSeal } from '../../src/worker/index.ts'
import * as workflows from '../../workflows/index.ts'
import { openHistory } from '../open-history.ts'
import { testSeal } from '../test-seal.ts'
import { type Stranger, strangerAt } from './hostile-temporal.ts'
import { openTrustStage, type TrustStage } from './trust-stage.ts'

let stage: TrustStage
let stranger: Stranger
beforeAll(async () => {
  stage = await openTrustStage()
  stranger = strangerAt(stage.temporal)
})
afterAll(() => stage.close())

const tagBatch = (name: string): Batch => ({
  index: 0,
  type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
  summary: `create tag ${name}`,
  parameters: { userTagName: name, userIds: [] },
  changes: [`tag.${name}`],
  after: [],
  produces: [{ address: `tag.${name}`, at: ['createUserTagResult', 'userTagId'] }],
})
const forged = (handle: WorkflowHandle) => stranger.client.workflow.getHandle(handle.workflowId)

describe('a stranger without the key', () => {
  test('starts nothing: each workflow ends at once, and no step is asked for', async () => {
    for (const type of Object.keys(workflows)) {
      const input = { organizationId: stage.organizationId, planDigest: 'x', sendId: 'x', batchId: 'x', run: 'x' }
      const workflowId = `${type}/forged`
      const { handle, status } = await stranger.forge(type, { workflowId, taskQueue: stage.taskQueue, input })
      expect(status).toBe('FAILED')
      const { events = [] } = await handle.fetchHistory()
      expect(events?.filter((event) => event.activityTaskScheduledEventAttributes)).toEqual([])
    }
  })

  test('an apply goes on and ends well under forged signals, queries, updates and cancels by signal', async () => {
    const plan = stage.plan([tagBatch('storm')])
    await stage.stopWorker()
    const handle = await stage.startApply(plan)
    const evil = forged(handle)
    await evil.signal('cancel')
    await evil.signal('cancel', { signal: 'cancel', args: [] })
    await evil.signal('nudge', 'x'.repeat(1_000))
    await evil.signal('unheard-of', 1)
    const update = evil.executeUpdate('unheard-of', { args: [1] }).catch(() => 'refused')
    await stage.startWorker()
    await expect(evil.query('progress')).rejects.toThrow()
    await expect(evil.query('progress', { query: 'progress', nonce: '1', args: [] })).rejects.toThrow()
    // What every worker of the SDK answers by itself: where the workflow stands, with its sources, and what it takes.
    for (const own of ['__stack_trace', '__enhanced_stack_trace', '__temporal_workflow_metadata'])
      await expect(evil.query(own)).rejects.toThrow()
    expect(await handle.result()).toMatchObject({ state: 'done', planDigest: plan.digest })
    expect(await update).toBe('refused')
  })

  test('a signal with a payload that was kept of another place, or of the place itself under another name, is dropped', async () => {
    await stage.stopWorker()
    const handle = await stage.startApply(stage.plan([tagBatch('kept')]))
    await handle.signal('nudge')
    const { events } = await handle.fetchHistory()
    const nudge = events!.find((event) => event.workflowExecutionSignaledEventAttributes)!
    const { input } = nudge.workflowExecutionSignaledEventAttributes!
    const { workflowService } = stage.temporal.client
    const namespace = 'default'
    const workflowExecution = { workflowId: handle.workflowId }
    await workflowService.signalWorkflowExecution({ namespace, workflowExecution, signalName: 'cancel', input: input! })
    await stage.startWorker()
    expect(await handle.result()).toMatchObject({ state: 'done' })
  })

  test('learns nothing from a history, nor from a failure in it', async () => {
    const handle = await stage.startApply(stage.plan([tagBatch('quiet-as-a-mouse')]))
    await handle.result()
    // The same plan again is stale or done: whatever becomes of it, it is said in a history.
    const history = await handle.fetchHistory()
    const seen = await stranger.readHistories([forged(handle)])
    expect(seen).not.toMatch(/mouse|completed|fingerprint|planDigest|ACTIVITY_TYPE/)
    expect(await openHistory(history, handle.workflowId, testSeal)).toMatch(/planDigest/)
    const other = createPayloadSeal([new Secret('ab'.repeat(32))])
    expect(await openHistory(history, handle.workflowId, other)).not.toMatch(/planDigest/)
    expect(await openHistory(history, 'apply/another', testSeal)).not.toMatch(/planDigest/)
  })

  test('a start that was kept and is used again tells how its run ended, and submits nothing', async () => {
    const handle = await stage.startApply(stage.plan([tagBatch('again')]))
    const ended = await handle.result()
    expect(ended).toMatchObject({ state: 'done' })
    const { events } = await handle.fetchHistory()
    const { input, taskQueue } = events![0]!.workflowExecutionStartedEventAttributes!
    const before = stage.submits.length
    await stage.temporal.client.workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId: handle.workflowId,
      workflowType: { name: 'apply' },
      taskQueue: { name: taskQueue!.name! },
      input: input!,
      requestId: 'again',
    })
    const result = await stage.temporal.client.workflow.getHandle(handle.workflowId).result()
    expect(result).toEqual(ended)
    expect(stage.submits.slice(before)).toEqual([])
  })

  test('a worker of its own delays: what it answers is no answer, and nothing is done that was not', async () => {
    await stage.stopWorker()
    let told = 0
    const lie = async () => {
      told++
      if (told % 3 === 0) return undefined
      if (told % 3 === 1) return { result: { state: 'completed', fresh: true, batches: [], produced: {} } }
      throw ApplicationFailure.nonRetryable('the API denied it', 'client/denied')
    }
    const lies = Object.fromEntries(Object.keys(stage.activities).map((name) => [name, lie]))
    const native = await stage.temporal.openForWorker()
    // It cannot read what it is asked, and answers all the same.
    const nothing = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{}') }
    const blind = { encode: async (all: Payload[]) => all, decode: async (all: Payload[]) => all.map(() => nothing) }
    const liar = await Worker.create({
      connection: native,
      taskQueue: stage.taskQueue,
      activities: lies,
      dataConverter: { payloadCodecs: [blind] },
    })
    const lying = liar.run()
    await stage.startWorker({ steps: false })
    const handle = await stage.startApply(stage.plan([tagBatch('liar')]))
    await expect.poll(() => told).toBeGreaterThan(3)
    expect(await handle.query<ApplyProgress>('progress')).toMatchObject({
      state: 'running',
      batches: [],
      error: { code: 'apply/answer-refused' },
    })
    liar.shutdown()
    await lying
    await stage.stopWorker()
    await stage.startWorker()
    await handle.signal('nudge')
    expect(await handle.result()).toMatchObject({ state: 'done' })
    expect(stage.submits.filter(({ body }) => body.includes('"liar"'))).toHaveLength(1)
  })

  test('terminates an apply: the next one of the plan goes on, and nothing is submitted twice', async () => {
    const plan = stage.plan([tagBatch('ended')])
    onTestFinished(await stage.needTwo())
    const handle = await stage.startApply(plan)
    await expect.poll(async () => (await handle.query<ApplyProgress>('progress')).state).toBe('waiting')
    await forged(handle).terminate()
    const again = await stage.startApply(plan)
    await expect.poll(async () => (await again.query<ApplyProgress>('progress')).state).toBe('waiting')
    const { batches } = await again.query<ApplyProgress>('progress')
    await stage.bob.client.approve(batches[0]!.fingerprint!)
    await again.signal('nudge')
    expect(await again.result()).toMatchObject({ state: 'done' })
    expect(stage.submits.filter(({ body }) => body.includes('"ended"'))).toHaveLength(1)
  })
})

test('a client without the key is told so, and believes no answer', async () => {
  // So that it waits, and can still be cancelled.
  onTestFinished(await stage.needTwo())
  const handle = await stage.startApply(stage.plan([tagBatch('other-key')]))
  const dataConverter = { payloadCodecs: [createPayloadSeal([new Secret('cd'.repeat(32))]).codec] }
  const { connection } = stage.temporal.client
  const other = new Client({ connection, dataConverter }).workflow.getHandle(handle.workflowId)
  await expect(other.query('progress')).rejects.toThrow()
  await handle.signal('cancel')
  await handle.result()
})
