/** What lists of applies at Temporal are searched by, at a real server, and at a namespace that takes no more of it. */
import { randomUUID } from 'node:crypto'
import type { Client, Connection } from '@temporalio/client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { startApply } from '../../src/operations/apply.ts'
import { registerSearchAttributes, whereShown } from '../../src/operations/search-attributes.ts'
import { connectTemporal } from '../../src/worker/index.ts'
import { ensureNamespace } from '../../src/worker/namespace.ts'
import { testTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'
import { askUntil } from '../workflows/asking.ts'
import { openStages, type Stage, type Stages } from '../workflows/harness.ts'
import { makeTagPlan } from '../workflows/tag-plan.ts'

vi.setConfig({ testTimeout: 120_000 })

const COMMIT = 'c0ffee'.repeat(7).slice(0, 40)

let stages: Stages | undefined
let stage: Stage
afterEach(async () => {
  await stage.close()
  await stages?.close()
})

/** An apply that waits for bob. */
async function begin(namespace?: string) {
  stages = await openStages(namespace === undefined ? undefined : { ...(await testTemporal()), namespace })
  stage = await stages.create()
  stage.api.decide = () => 'waits'
  const plan = { ...makeTagPlan(stage.organizationId, stage.api.baseUrl, [{ name: 'treasury' }]), commit: COMMIT }
  const { own } = await startApply(stage.applies, plan)
  const [activity] = await askUntil(
    async () => stage.api.activities,
    (all) => all.length > 0,
  )
  return { plan, handle: own!, activity: activity!, client: stage.applies.client }
}

/** Ids of the workflows that a search finds, once it is as wanted: Temporal writes its lists a moment later. */
async function found(client: Client, query: string, wanted: (ids: readonly string[]) => boolean) {
  return askUntil(async () => {
    const ids: string[] = []
    for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId)
    return ids
  }, wanted)
}

describe('search attributes', () => {
  test('an apply is found by organization, plan, state and the activity that it waits on', async () => {
    const temporal = await connectTemporal(await testTemporal(), testSeal)
    expect(await registerSearchAttributes(temporal.client)).toBeUndefined()
    expect(await registerSearchAttributes(temporal.client)).toBeUndefined()
    await askUntil(
      () => whereShown(temporal.client),
      (where) => where === 'search attributes',
    )
    await temporal.close()
    const { client, plan, handle, activity } = await begin()
    const { organizationId } = stage
    const id = [`apply/${organizationId}`]
    const of = `QuorateOrganization = '${organizationId}'`
    const isIt = (ids: readonly string[]) => ids.length === 1
    expect(await found(client, `${of} and QuorateState = 'waiting'`, isIt)).toEqual(id)
    expect(await found(client, `QuorateWaitingOn = '${activity.id}'`, isIt)).toEqual(id)
    expect(await found(client, `QuoratePlan = '${plan.digest}'`, isIt)).toEqual(id)
    expect(await found(client, `${of} and QuorateCommit = '${COMMIT}'`, isIt)).toEqual(id)
    stage.api.vote('bob', activity.fingerprint, 'approve')
    expect((await handle.result()).state).toBe('done')
    expect(await found(client, `${of} and QuorateState = 'done'`, isIt)).toEqual(id)
    expect(await found(client, `QuorateWaitingOn = '${activity.id}'`, (ids) => ids.length === 0)).toEqual([])
    await stages!.replay(handle)
  })

  test('a namespace that takes no more of them is told of, and the memo says the same, sealed', async () => {
    const namespace = `full-${randomUUID()}`
    const temporal = await connectTemporal({ ...(await testTemporal()), namespace }, testSeal)
    const connection = temporal.client.connection as Connection
    await askUntil(
      () =>
        ensureNamespace(connection, { namespace, retentionDays: 1 }).then(
          () => true,
          () => false,
        ),
      (done) => done,
    )
    // The store of the lists has so many columns for words.
    for (let n = 0; n < 10; n++)
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { [`Taken${n}`]: 2 } })
    expect(await registerSearchAttributes(temporal.client)).toMatch(/search attribute/i)
    expect(await whereShown(temporal.client)).toBe('memo')
    await temporal.close()
    const { plan, handle, activity } = await begin(namespace)
    const described = await askUntil(
      () => handle.describe(),
      ({ memo }) => (memo as Record<string, unknown>)['QuorateState'] === 'waiting',
    )
    expect(described.memo).toEqual({
      QuorateOrganization: stage.organizationId,
      QuoratePlan: plan.digest,
      QuorateCommit: COMMIT,
      QuorateState: 'waiting',
      QuorateWaitingOn: [activity.id],
    })
    const raw = described.raw.workflowExecutionInfo?.memo?.fields?.['QuoratePlan']
    expect(Buffer.from(raw!.data!).toString()).not.toContain(plan.digest)
    stage.api.vote('bob', activity.fingerprint, 'approve')
    expect((await handle.result()).state).toBe('done')
  })
})
