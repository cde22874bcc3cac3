/** Somebody ends at Temporal what commands follow: they say so and end, instead of showing for ever what was true then. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPlanStore, sendIdOf } from '../../activities/index.ts'
import { connectTemporal, loadPayloadSeal, type TemporalConnections } from '../../src/worker/index.ts'
import { countActivities, quorateShared as quorate, writeFiles } from '../cli/harness.ts'
import { payday } from '../cli/payday.ts'
import { onlyTags } from '../cli/scene.ts'
import { createTestUser } from '../service/harness.ts'
import { testTemporal } from '../temporal.ts'
import { resetAtTemporal, type Stranger, strangerAt } from './hostile-temporal.ts'

const closers: (() => Promise<void>)[] = []
let day: Awaited<ReturnType<typeof payday>>
let temporal: TemporalConnections
let stranger: Stranger
beforeAll(async () => {
  day = await payday((close) => closers.push(close))
  temporal = await connectTemporal(await testTemporal(), await loadPayloadSeal(day.env['QUORATE_DATA_DIR']!))
  stranger = strangerAt(temporal)
})
afterAll(async () => {
  await temporal.close()
  for (const close of closers.reverse()) await close()
})

const run = (...words: readonly string[]) => quorate(words, { env: day.env, cwd: day.folder })

test('ended at Temporal: a send is told of as left, by who follows it and by the list, and is paid once when asked again', async () => {
  const { service, anvil } = day
  const organization = { id: service.organizationId, name: '', baseUrl: '' }
  const sendId = sendIdOf({ organization, reference: 'INV-LEFT' })
  const workflow = stranger.client.workflow.getHandle(`send/${service.organizationId}/${sendId}`)
  const ledger = createPlanStore(join(day.env['QUORATE_DATA_DIR']!, 'plans')).sends
  const paid = await day.paid()
  await anvil.rpc('evm_setAutomine', false)
  const following = day.send(['--yes'], { ref: 'INV-LEFT', amount: '1gwei' })
  await expect.poll(async () => (await ledger.getProgress(sendId))?.state).toBe('broadcasting')
  await workflow.terminate()
  const { exit, stderr } = await following
  expect([exit, stderr]).toEqual([1, expect.stringContaining('somebody ended the send at Temporal (terminated)')])
  expect((await run('sends')).stdout).toContain('nobody carries it out now: run the same `quorate send` again')
  const listed = JSON.parse((await run('sends', '--follow', '--json')).stdout) as { sends: readonly object[] }
  expect(listed.sends).toMatchObject([{ reference: 'INV-LEFT', isLeft: true }])
  await anvil.rpc('evm_setAutomine', true)
  await anvil.rpc('evm_mine')
  expect((await day.send(['--yes'], { ref: 'INV-LEFT', amount: '1gwei' })).exit).toBe(0)
  expect((await run('sends')).stdout).toMatch(/^INV-LEFT .* included/)
  expect(await day.paid()).toBe(paid + 1_000_000_000n)
})

test('reset at Temporal: an apply and a send that had come to their ends are told as they ended', async () => {
  const { service } = day
  const reset = (workflowId: string) => resetAtTemporal(temporal, workflowId)
  writeFiles(day.folder, { 'tags/acme.yaml': onlyTags(['reset']) })
  expect((await run('apply', 'tags', '--yes')).exit).toBe(0)
  const applied = await run('status', '--json')
  const before = await countActivities(service)
  expect(await reset(`apply/${service.organizationId}`)).toMatchObject({ state: 'done' })
  const after = await run('status', '--json')
  expect([after.exit, JSON.parse(after.stdout)]).toEqual([0, JSON.parse(applied.stdout)])

  expect((await day.send(['--yes'], { ref: 'INV-RESET', amount: '1gwei' })).exit).toBe(0)
  const sendId = sendIdOf({
    organization: { id: service.organizationId, name: '', baseUrl: '' },
    reference: 'INV-RESET',
  })
  const sends = await run('sends', '--json')
  expect(await reset(`send/${service.organizationId}/${sendId}`)).toMatchObject({ state: 'included' })
  expect(JSON.parse((await run('sends', '--json')).stdout)).toEqual(JSON.parse(sends.stdout))
  expect(await countActivities(service)).toBe(before + 1)
})

test('ended at Temporal: an apply is told of as left; once it is given up, nobody brings it back', async () => {
  const { service, env } = day
  const bob = await createTestUser(service, 'bob')
  const userIds = [service.rootUserId, bob.userId]
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  writeFiles(day.folder, { 'tags/acme.yaml': onlyTags(['reset', 'left']) })
  expect((await run('apply', 'tags', '--yes')).exit).toBe(3)
  const workflow = stranger.client.workflow.getHandle(`apply/${service.organizationId}`)
  const { events } = await workflow.fetchHistory()
  await workflow.terminate()

  const words = 'Somebody ended it at Temporal (terminated): nobody carries it out now.'
  const status = await run('status')
  expect([status.exit, status.stdout]).toEqual([1, expect.stringContaining(`${words} What was submitted is kept`)])
  const followed = await run('status', '--follow', '--json')
  expect([followed.exit, JSON.parse(followed.stdout)]).toMatchObject([1, { end: 'terminated' }])
  const givenUp = await run('status', '--cancel')
  expect([givenUp.exit, givenUp.stdout]).toEqual([0, expect.stringContaining(`${words} It is given up`)])

  // A server that kept its start hands it in again: the plan store knows that it is over.
  const before = await countActivities(service)
  const started = events![0]!.workflowExecutionStartedEventAttributes!
  await stranger.client.workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId: workflow.workflowId,
    workflowType: { name: 'apply' },
    taskQueue: { name: started.taskQueue!.name! },
    input: started.input!,
    requestId: 'again',
  })
  const again = temporal.client.workflow.getHandle(workflow.workflowId)
  expect(await again.result()).toMatchObject({ state: 'failed', error: { code: 'apply/run-refused' } })
  expect(await countActivities(service)).toBe(before)
  // It is taken up again by a user who may: the activity that waits is the same one.
  expect((await quorate(['apply', 'tags', '--yes'], { env, cwd: day.folder })).exit).toBe(3)
  expect(await countActivities(service)).toBe(before)
})
