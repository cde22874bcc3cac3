/** A Temporal server that suggests continue-as-new after a few dozen events, so that a long wait can be seen in seconds. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findTemporal, startTemporalServer, type TemporalServer } from '../../src/worker/index.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser } from '../service/harness.ts'
import { openStages, states } from './harness.ts'
import { openSendStage } from './send-stage.ts'

const folder = mkdtempSync(join(tmpdir(), 'quorate-long-'))
let server: TemporalServer
beforeAll(async () => {
  const announce = () => {}
  const binary = await findTemporal({ announce })
  const dynamicConfig = { 'limit.historyCount.suggestContinueAsNew': 60 }
  server = await startTemporalServer({ binary, folder, dynamicConfig, announce })
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('continue-as-new: a long wait goes on in new runs, and nothing is submitted twice', async () => {
  const stages = await openStages(server)
  const stage = await stages.create()
  stage.api.decide = (_, { userTagName }) => (userTagName === 'c' ? 'completes' : 'waits')
  const run = await stage.startApply([{ name: 'a' }, { name: 'b' }, { name: 'c', uses: ['a'] }])
  const first = await run.until(({ state }) => state === 'waiting')
  const runOf = async () => (await run.handle.describe()).runId
  const firstRun = await runOf()
  for (let nudges = 0; nudges < 40; nudges++) await run.handle.signal('nudge')
  while ((await runOf()) === firstRun) await run.handle.signal('nudge')

  const later = await run.until(({ state }) => state === 'waiting')
  expect(later).toEqual(first)
  for (const name of ['a', 'b']) {
    const { fingerprint } = stage.api.activities.find(({ parameters }) => parameters.userTagName === name)!
    stage.api.vote('bob', fingerprint, 'approve')
    await run.handle.signal('nudge')
  }
  const result = await run.handle.result()
  expect(result.state).toBe('done')
  expect(states(result)).toEqual(['completed', 'completed', 'completed'])
  expect(result.startedAt).toBe(first.startedAt)
  expect([...stage.api.countByIntent().values()]).toEqual([1, 1, 1])
  await stage.close()
  await stages.close()
})

test('continue-as-new: a batch and its sends go on in new runs, and each is sent once', async () => {
  const stage = await openSendStage(server)
  const bob = await createTestUser(stage.service, 'bob')
  const userIds = [stage.service.rootUserId, bob.userId]
  await complete(stage.service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  const batch = await stage.begin(Array.from({ length: 5 }, (_, row) => stage.orderOf(`LONG-${row}`)))
  const runOf = async () => (await batch.handle.describe()).runId
  const firstRun = await runOf()
  await batch.until(({ counts, submitted }) => submitted && counts.waiting === 5)
  while ((await runOf()) === firstRun) await batch.handle.signal('nudge')
  for (const { progress } of await stage.store.batches.survey(batch.batch)) {
    await bob.client.approve(progress!.fingerprint!)
  }
  await batch.handle.signal('nudge')
  expect(await batch.handle.result()).toMatchObject({ counts: { included: 5 }, over: true })
  expect(await stage.countSends()).toBe(5)
  await stage.close()
})
