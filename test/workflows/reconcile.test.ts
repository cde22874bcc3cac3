/** A look that reads many sub-organizations: how long it may take, and how soon a worker that died in it is noticed. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { Activities, WatchCycle } from '../../activities/index.ts'
import { connectTemporal, createWorker } from '../../src/worker/index.ts'
import type { reconcile } from '../../workflows/index.ts'
import { testTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'

/** Of the slowest plan (docs/protocol/limits.md#requests-a-second). */
const REQUESTS_A_SECOND = 1
const SUB_ORGANIZATIONS = 1_000
/** One by name and four to read it (`test/cli/planning-inside.test.ts`). */
const REQUESTS_EACH = 5

test('reconcile: a look may take as long as 1,000 sub-organizations do at one request a second; that its worker died is seen in seconds', async () => {
  const temporal = await connectTemporal(await testTemporal(), testSeal)
  onTestFinished(() => temporal.close())
  const taskQueue = `test-${randomUUID()}`
  const looked: WatchCycle = { outcome: 'as defined', drift: 0 }
  const worker = await createWorker({
    connection: await temporal.openForWorker(),
    namespace: temporal.namespace,
    seal: testSeal,
    taskQueue,
    activities: { lookAround: async () => looked } as unknown as Activities,
    workflowBundle: await testBundle(),
  })
  const handle = await temporal.client.workflow.start<typeof reconcile>('reconcile', {
    workflowId: `reconcile/${randomUUID()}`,
    taskQueue,
    args: [{ organizationId: randomUUID() }],
  })
  expect(await worker.runUntil(handle.result())).toEqual(looked)
  const { events } = await handle.fetchHistory()
  const [look] = (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes ?? [])
  expect(look?.activityType?.name).toBe('lookAround')
  const needed = (SUB_ORGANIZATIONS * REQUESTS_EACH) / REQUESTS_A_SECOND
  expect(Number(look?.startToCloseTimeout?.seconds)).toBeGreaterThan(2 * needed)
  expect(Number(look?.heartbeatTimeout?.seconds)).toBeLessThanOrEqual(10)
})
