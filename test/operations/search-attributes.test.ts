/** What lists of workflows at Temporal are searched by, at a real server, and at a namespace that takes no more of it. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Client, Connection } from '@temporalio/client'
import { afterEach, describe, expect, test } from 'vitest'
import type { RotationProgress, SendProgress } from '../../activities/index.ts'
import { createSubmitClient } from '../../src/client/index.ts'
import { startApply } from '../../src/operations/apply.ts'
import { beginRotation, orderRotation } from '../../src/operations/index.ts'
import { registerSearchAttributes, whereShown } from '../../src/operations/search-attributes.ts'
import { beginBatch } from '../../src/sending/batch-running.ts'
import { beginSend } from '../../src/sending/running.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { connectTemporal } from '../../src/worker/index.ts'
import { ensureNamespace } from '../../src/worker/namespace.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser } from '../service/harness.ts'
import { testTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'
import { askUntil } from '../workflows/asking.ts'
import { openStages, type Stage, type Stages } from '../workflows/harness.ts'
import { batchOf, openSendStage, type SendStage } from '../workflows/send-stage.ts'
import { makeTagPlan } from '../workflows/tag-plan.ts'

const COMMIT = 'c0ffee'.repeat(7).slice(0, 40)

let stages: Stages | undefined
let stage: Stage | undefined
let sends: SendStage | undefined
afterEach(async () => {
  await stage?.close()
  await stages?.close()
  await sends?.close()
  stages = stage = sends = undefined
})

/** Search attributes are registered, and known to the server. */
async function register(): Promise<void> {
  const temporal = await connectTemporal(await testTemporal(), testSeal)
  expect(await registerSearchAttributes(temporal.client)).toBeUndefined()
  expect(await registerSearchAttributes(temporal.client)).toBeUndefined()
  await askUntil(
    () => whereShown(temporal.client),
    (where) => where === 'search attributes',
  )
  await temporal.close()
}

/** A namespace whose store of lists has no column left for words. */
async function fullNamespace(): Promise<string> {
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
  for (let n = 0; n < 10; n++)
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { [`Taken${n}`]: 2 } })
  expect(await registerSearchAttributes(temporal.client)).toMatch(/search attribute/i)
  expect(await whereShown(temporal.client)).toBe('memo')
  await temporal.close()
  return namespace
}

/** A send, a batch of two and a rotation, begun as commands begin them, that wait for bob. */
async function beginAll(namespace?: string) {
  sends = await openSendStage({ ...(await testTemporal()), ...(namespace === undefined ? {} : { namespace }) })
  const { service, place } = sends
  const bob = await createTestUser(service, 'bob')
  const ci = await createTestUser(service, 'ci')
  await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', {
    threshold: 2,
    userIds: [service.rootUserId, bob.userId],
  })
  const stamper = createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) })
  const client = createSubmitClient({ baseUrl: service.url, organizationId: service.organizationId, stamper })
  const [key] = (await service.root.query('get_api_keys', { userId: ci.userId })).apiKeys
  const sink = { kind: 'file', path: join(place.dataDir, 'ci.key') } as const
  const asked = { user: 'ci', key: key!.apiKeyId, overlapMs: 0, sink }
  const order = await orderRotation(client, asked, { now: Date.now(), organizationName: 'acme' })
  const send = await beginSend(place, sends.orderOf('INV-42'))
  const batch = batchOf([sends.orderOf('PAY-1'), sends.orderOf('PAY-2')])
  const batchHandle = await beginBatch(place, { batch, stopOnFailure: false, resumes: false })
  const rotation = await beginRotation(place, order)
  return {
    client: place.client,
    bob,
    send,
    batch: { id: batch.batchId, handle: batchHandle },
    rotation: { id: order.rotationId, handle: rotation.handle },
  }
}

/** Approves by bob whatever waits, until all has ended. */
async function approveAll({ bob, send, batch, rotation }: Awaited<ReturnType<typeof beginAll>>): Promise<void> {
  const handles = [send.handle, batch.handle, rotation.handle]
  const approveAndLook = async () => {
    const { activities } = await bob.client.query('list_activities', {
      filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
    })
    for (const { fingerprint } of activities) await bob.client.approve(fingerprint).catch(() => {})
    for (const handle of handles) await handle.signal('nudge').catch(() => {})
    return Promise.all(
      handles.map(async (handle) => {
        const [{ status }, progress] = await Promise.all([handle.describe(), handle.query<object>('progress')])
        return { status: status.name, progress }
      }),
    )
  }
  await askUntil(approveAndLook, (all) => all.every(({ status }) => status !== 'RUNNING'))
  const ends = Promise.all([send.handle.result(), batch.handle.result(), rotation.handle.result()])
  expect(await ends).toMatchObject([{ state: 'included' }, { counts: { included: 2 } }, { state: 'done' }])
}

/** An apply that waits for bob. */
async function begin(namespace?: string) {
  stages = await openStages(namespace === undefined ? undefined : { ...(await testTemporal()), namespace })
  stage = await stages.create()
  stage!.api.decide = () => 'waits'
  const plan = { ...makeTagPlan(stage!.organizationId, stage!.api.baseUrl, [{ name: 'treasury' }]), commit: COMMIT }
  const { own } = await startApply(stage.applies, plan)
  const [activity] = await askUntil(
    async () => stage!.api.activities,
    (all) => all.length > 0,
  )
  return { plan, handle: own!, activity: activity!, client: stage.applies.client }
}

/**
 * Ids of the workflows that a search finds, once it is as wanted: Temporal writes its lists a moment later. Each once: a send that
 * ended while its batch told it something has a second run, which finds it over.
 */
async function found(client: Client, query: string, wanted: (ids: readonly string[]) => boolean) {
  return askUntil(async () => {
    const ids = new Set<string>()
    for await (const { workflowId } of client.workflow.list({ query })) ids.add(workflowId)
    return [...ids]
  }, wanted)
}

describe('search attributes', () => {
  test('an apply is found by organization, plan, state and the activity that it waits on', async () => {
    await register()
    const { client, plan, handle, activity } = await begin()
    const { organizationId } = stage!
    const id = [`apply/${organizationId}`]
    const of = `QuorateOrganization = '${organizationId}'`
    const isIt = (ids: readonly string[]) => ids.length === 1
    expect(await found(client, `${of} and QuorateState = 'waiting'`, isIt)).toEqual(id)
    expect(await found(client, `QuorateWaitingOn = '${activity.id}'`, isIt)).toEqual(id)
    expect(await found(client, `QuoratePlan = '${plan.digest}'`, isIt)).toEqual(id)
    expect(await found(client, `${of} and QuorateCommit = '${COMMIT}'`, isIt)).toEqual(id)
    stage!.api.vote('bob', activity.fingerprint, 'approve')
    expect((await handle.result()).state).toBe('done')
    expect(await found(client, `${of} and QuorateState = 'done'`, isIt)).toEqual(id)
    expect(await found(client, `QuorateWaitingOn = '${activity.id}'`, (ids) => ids.length === 0)).toEqual([])
    await stages!.replay(handle)
  })

  test('a namespace that takes no more of them is told of, and the memo says the same, sealed', async () => {
    const namespace = await fullNamespace()
    const { plan, handle, activity } = await begin(namespace)
    const described = await askUntil(
      () => handle.describe(),
      ({ memo }) => (memo as Record<string, unknown>)['QuorateState'] === 'waiting',
    )
    expect(described.memo).toEqual({
      QuorateOrganization: stage!.organizationId,
      QuoratePlan: plan.digest,
      QuorateCommit: COMMIT,
      QuorateState: 'waiting',
      QuorateWaitingOn: [activity.id],
    })
    const raw = described.raw.workflowExecutionInfo?.memo?.fields?.['QuoratePlan']
    expect(Buffer.from(raw!.data!).toString()).not.toContain(plan.digest)
    stage!.api.vote('bob', activity.fingerprint, 'approve')
    expect((await handle.result()).state).toBe('done')
  })

  test('a send, a batch with its rows and a rotation are found by organization, id, state and the activity that they wait on', async () => {
    await register()
    const all = await beginAll()
    const { client, send, batch, rotation } = all
    const { organizationId } = sends!.service
    const are = (count: number) => (ids: readonly string[]) => ids.length === count
    const one = (query: string) => found(client, query, are(1))
    const waits = "QuorateState = 'waiting'"
    const waiting = `QuorateOrganization = '${organizationId}' and ${waits}`
    const ids = [send.handle, batch.handle, rotation.handle].map(({ workflowId }) => workflowId)
    expect(await found(client, waiting, are(5))).toEqual(expect.arrayContaining(ids))
    expect(await one(`QuoratePlan = '${send.sendId}' and ${waits}`)).toEqual([ids[0]])
    expect(await one(`QuoratePlan = '${rotation.id}' and ${waits}`)).toEqual([ids[2]])
    const ofBatch = await found(client, `QuoratePlan = '${batch.id}' and ${waits}`, are(3))
    expect(ofBatch.filter((id) => id.startsWith(`send/${organizationId}/`))).toHaveLength(2)
    const { activityId } = await send.handle.query<SendProgress>('progress')
    const { waiting: part } = await rotation.handle.query<RotationProgress>('progress')
    expect(await one(`QuorateWaitingOn = '${activityId}'`)).toEqual([ids[0]])
    expect(await one(`QuorateWaitingOn = '${part!.activityId}'`)).toEqual([ids[2]])
    // Temporal reads them in clear: no word of a person's is among them.
    for (const workflowId of [...ids, ...ofBatch]) {
      const { raw } = await client.workflow.getHandle(workflowId).describe()
      const shown = Object.values(raw.workflowExecutionInfo?.searchAttributes?.indexedFields ?? {})
      expect(shown.map(({ data }) => Buffer.from(data!).toString()).join()).not.toMatch(/INV-42|PAY-|bob/)
    }

    await approveAll(all)
    expect(await found(client, `QuorateOrganization = '${organizationId}' and QuorateState = 'done'`, are(5))).toEqual(
      expect.arrayContaining(ids),
    )
    expect(await found(client, waiting, are(0))).toEqual([])
    await sends!.replayOf(send.handle, 'shown-send')
    await sends!.replayOf(batch.handle, 'shown-batch')
    await sends!.replayOf(rotation.handle, 'shown-rotate')
    const row = ofBatch.find((id) => id.startsWith('send/'))!
    await sends!.replayOf(client.workflow.getHandle(row), 'shown-batch-row')
  })

  test('where a server has none, the same stands in the memos of a send, a batch and a rotation, sealed', async () => {
    const all = await beginAll(await fullNamespace())
    const { send, batch, rotation } = all
    const stands = [
      [send.handle, send.sendId],
      [batch.handle, batch.id],
      [rotation.handle, rotation.id],
    ] as const
    for (const [handle, carriesOut] of stands) {
      const { memo, raw } = await askUntil(
        () => handle.describe(),
        ({ memo }) => (memo as Record<string, unknown> | undefined)?.['QuorateState'] === 'waiting',
      )
      expect(memo).toMatchObject({ QuorateOrganization: sends!.service.organizationId, QuoratePlan: carriesOut })
      const sealed = raw.workflowExecutionInfo?.memo?.fields?.['QuoratePlan']
      expect(Buffer.from(sealed!.data!).toString()).not.toContain(carriesOut)
    }
    await approveAll(all)
    for (const [handle] of stands) {
      expect((await handle.describe()).memo).toMatchObject({ QuorateState: 'done', QuorateWaitingOn: [] })
    }
  })
})
