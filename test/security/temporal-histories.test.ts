/**
 * An attacker who reaches Temporal can neither make the worker sign what no plan or send recorded, nor learn anything. What is forged
 * here is sealed with the right key, as an insider's would be: the steps themselves refuse it. Without the key nothing of it
 * comes so far (`sealed-payloads.test.ts`).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SendOrder, sendIdOf } from '../../activities/index.ts'
import type { Batch } from '../../src/plan/index.ts'
import { insiderAt, type Stranger } from './hostile-temporal.ts'
import { openTrustStage, type TrustStage } from './trust-stage.ts'

let stage: TrustStage
let stranger: Stranger
beforeAll(async () => {
  stage = await openTrustStage()
  stranger = insiderAt(stage.temporal)
})
afterAll(() => stage.close())

const tagBatch = (name: string, index = 0): Batch => ({
  index,
  type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
  summary: `create tag ${name}`,
  parameters: { userTagName: name, userIds: [] },
  changes: [`tag.${name}`],
  after: [],
  produces: [{ address: `tag.${name}`, at: ['createUserTagResult', 'userTagId'] }],
})
const policyBatch = (tag: string, index: number): Batch => ({
  index,
  type: 'ACTIVITY_TYPE_CREATE_POLICIES',
  summary: 'create policy',
  parameters: {
    policies: [
      {
        policyName: `of-${tag}`,
        effect: 'EFFECT_ALLOW',
        consensus: { $text: ["approvers.any(user, user.tags.contains('", { $ref: `tag.${tag}` }, "'))"] },
        condition: "activity.kind == 'CREATE_WALLET'",
        notes: '',
      },
    ],
  },
  changes: [`policy.of-${tag}`],
  after: [index - 1],
  produces: [{ address: `policy.of-${tag}`, at: ['createPoliciesResult', 'policyIds', 0] }],
})
const outlineOf = (digest: string, batches: readonly Batch[], needs: readonly string[] = []) => ({
  digest,
  organizationId: stage.organizationId,
  batches: batches.map(({ index, type, summary, after }) => ({ index, type, summary, after, changes: 1, needs })),
})
/** A start of `apply` as a stranger writes it. */
const forgedApply = (planDigest: string, carried: object) => ({
  workflowId: stage.workflowId,
  taskQueue: stage.taskQueue,
  input: { organizationId: stage.organizationId, planDigest, run: 'a run', carried },
})

describe('a forged start of apply', () => {
  test("a spent plan's batch is not submitted again", async () => {
    const plan = stage.plan([tagBatch('spent')])
    await (await stage.startApply(plan)).result()
    const before = stage.submits.length
    const { status } = await stranger.forge(
      'apply',
      forgedApply(plan.digest, {
        startedAt: '2026-01-01T00:00:00.000Z',
        outline: outlineOf(plan.digest, plan.batches),
        records: [{ state: 'pending' }],
        produced: {},
      }),
    )
    expect(status).not.toBe('RUNNING')
    expect(stage.submits.slice(before)).toEqual([])
  })

  test("the attack as it was first run: alice's key does not vote for bob's coup", async () => {
    const plan = stage.plan([tagBatch('coup')])
    await (await stage.startApply(plan)).result()
    await stage.needTwo()
    const coup = await stage.proposeCoup()
    expect(coup.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const { id: activityId, fingerprint } = coup
    const before = stage.submits.length
    const { status } = await stranger.forge(
      'apply',
      forgedApply(plan.digest, {
        startedAt: '2026-01-01T00:00:00.000Z',
        outline: outlineOf(plan.digest, plan.batches),
        records: [{ state: 'waiting', needsVote: true, fingerprint, activityId }],
        produced: {},
      }),
    )
    expect(status).not.toBe('RUNNING')
    expect(stage.submits.slice(before)).toEqual([])
    const after = await stage.read(activityId)
    expect([after.status, after.votes.length]).toEqual(['ACTIVITY_STATUS_CONSENSUS_NEEDED', 1])
    await stage.bob.client.reject(fingerprint)
  })

  test('ids, paths and states that it brings go nowhere', async () => {
    const plan = stage.plan([tagBatch('ids'), policyBatch('ids', 1)])
    await stage.store.putPlan(plan)
    const fingerprint = await stage.store.putBody(JSON.stringify({ type: 'ACTIVITY_TYPE_DELETE_ORGANIZATION' }))
    const before = stage.submits.length
    for (const second of [
      { state: 'pending' },
      { state: 'pending', prepared: { fingerprint, path: '/public/v1/submit/delete_organization' } },
    ]) {
      const { status } = await stranger.forge(
        'apply',
        forgedApply(plan.digest, {
          startedAt: '2026-01-01T00:00:00.000Z',
          outline: outlineOf(plan.digest, plan.batches, ['tag.ids']),
          records: [{ state: 'completed' }, second],
          produced: { 'tag.ids': '00000000-0000-4000-8000-00000000e711' },
        }),
      )
      expect(status).not.toBe('RUNNING')
    }
    expect(stage.submits.slice(before)).toEqual([])
  })
})

describe('a forged start of send', () => {
  const orderOf = (reference: string): SendOrder => ({
    reference,
    organization: { name: 'acme', id: stage.organizationId, baseUrl: stage.service.url },
    type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
    parameters: { from: '0x01', caip2: 'eip155:1', to: '0x02', value: '1' },
    from: 'treasury',
    to: 'payroll',
    amount: '1 wei',
    orderedAt: '2026-01-01T00:00:00.000Z',
  })

  test('does not vote for what is not its send', async () => {
    const order = orderOf('INV-FORGED')
    await stage.store.sends.enter(order)
    const { id: activityId, fingerprint } = await stage.proposeCoup()
    const before = stage.submits.length
    const sendId = sendIdOf(order)
    const { status } = await stranger.forge('send', {
      workflowId: `send/${stage.organizationId}/${sendId}`,
      taskQueue: stage.taskQueue,
      input: {
        organizationId: stage.organizationId,
        sendId,
        carried: { sendId, reference: 'INV-FORGED', state: 'waiting', needsVote: true, fingerprint, activityId },
      },
    })
    expect(status).not.toBe('RUNNING')
    expect(stage.submits.slice(before)).toEqual([])
    const after = await stage.read(activityId)
    expect([after.status, after.votes.length]).toEqual(['ACTIVITY_STATUS_CONSENSUS_NEEDED', 1])
    await stage.bob.client.reject(fingerprint)
  })
})

describe('steps, called as a hostile workflow would that has the token of a run', () => {
  const timestampMs = Date.now()
  const refused = (code: string) => expect.objectContaining({ type: code, nonRetryable: true })
  const begun = async (batches: readonly Batch[]) => {
    const plan = stage.plan(batches)
    await stage.store.putPlan(plan)
    const run = { planDigest: plan.digest, run: await stage.store.runs.open(plan.digest) }
    return { plan, run, first: { ...run, batch: 0 }, second: { ...run, batch: 1 } }
  }
  let steps: TrustStage['activities']
  beforeAll(() => {
    steps = stage.activities
  })

  test('nothing is prepared before the plan was found fresh and this run has begun', async () => {
    const { run, first } = await begun([tagBatch('h1')])
    await expect(steps.spendPlan(run)).rejects.toEqual(refused('apply/run-refused'))
    await expect(steps.prepareRequest({ ...first, timestampMs })).rejects.toEqual(refused('apply/run-refused'))
    await expect(steps.submitRequest(first)).rejects.toEqual(refused('apply/run-refused'))
    await steps.checkPlanFresh(run)
    await steps.spendPlan(run)
    expect(await steps.prepareRequest({ ...first, timestampMs })).toMatchObject({ kind: 'made' })
  })

  test('a batch waits for those before it, by what the API said of them', async () => {
    const { run, first, second } = await begun([tagBatch('h2'), policyBatch('h2', 1)])
    await steps.checkPlanFresh(run)
    await steps.spendPlan(run)
    await expect(steps.prepareRequest({ ...second, timestampMs })).rejects.toEqual(refused('apply/batch-early'))
    await expect(steps.submitRequest(second)).rejects.toEqual(refused('apply/batch-early'))
    await steps.prepareRequest({ ...first, timestampMs })
    await expect(steps.prepareRequest({ ...second, timestampMs })).rejects.toEqual(refused('apply/batch-early'))
    await expect(steps.castVote({ ...first, timestampMs })).rejects.toEqual(refused('apply/run-refused'))
  })

  test('a batch has one body, however often it is prepared, until the API refuses it', async () => {
    const { run, first } = await begun([tagBatch('h3')])
    await steps.checkPlanFresh(run)
    await steps.spendPlan(run)
    const made = await steps.prepareRequest({ ...first, timestampMs })
    expect(await steps.prepareRequest({ ...first, timestampMs: timestampMs + 1_000 })).toEqual(made)
  })

  test('a body that the store was given for it is not sent, when it asks for something else', async () => {
    const { plan, run, first } = await begun([tagBatch('h4')])
    await steps.checkPlanFresh(run)
    await steps.spendPlan(run)
    const { type, organizationId } = { type: plan.batches[0]!.type, organizationId: stage.organizationId }
    const foreign = {
      type,
      timestampMs: String(timestampMs),
      organizationId,
      parameters: { userTagName: 'evil', userIds: [] },
    }
    const records = await stage.store.runs.batch(run, 0)
    await records.enterBody(await stage.store.putBody(JSON.stringify(foreign)))
    const before = stage.submits.length
    await expect(steps.submitRequest(first)).rejects.toEqual(refused('apply/body-refused'))
    expect(stage.submits.slice(before)).toEqual([])
  })

  test('a vote is refused for an activity that does not ask for what the batch does', async () => {
    const { run, first } = await begun([tagBatch('h5')])
    await steps.checkPlanFresh(run)
    await steps.spendPlan(run)
    const coup = await stage.proposeCoup()
    const records = await stage.store.runs.batch(run, 0)
    await records.setActivity(coup.id)
    const before = stage.submits.length
    await expect(steps.castVote({ ...first, timestampMs })).rejects.toEqual(refused('apply/vote-refused'))
    expect(stage.submits.slice(before)).toEqual([])
    await stage.bob.client.reject(coup.fingerprint)
  })

  test('a run is over once a later one of the same plan begins, or it ended', async () => {
    const { plan, run, first } = await begun([tagBatch('h6')])
    await steps.checkPlanFresh(run)
    await steps.spendPlan(run)
    const made = await steps.prepareRequest({ ...first, timestampMs })
    const later = { planDigest: plan.digest, run: await stage.store.runs.open(plan.digest) }
    await steps.checkPlanFresh(later)
    await steps.spendPlan(later)
    await expect(steps.submitRequest(first)).rejects.toEqual(refused('apply/run-refused'))
    await expect(steps.spendPlan(run)).rejects.toEqual(refused('apply/run-refused'))
    // What became of the bytes of the run before is not known, so it is they that are sent.
    expect(await steps.prepareRequest({ ...later, batch: 0, timestampMs: timestampMs + 5 })).toEqual(made)
    const outcome = { planDigest: plan.digest, state: 'cancelled', startedAt: '', batches: [] } as const
    await steps.recordOutcome({ run: later.run, outcome })
    await expect(steps.submitRequest({ ...later, batch: 0 })).rejects.toEqual(refused('apply/run-refused'))
  })

  test('a token opens its own plan alone', async () => {
    const { run } = await begun([tagBatch('h7')])
    const other = await begun([tagBatch('h8')])
    const mixed = { ...other.run, run: run.run }
    await expect(steps.checkPlanFresh(mixed)).rejects.toEqual(refused('apply/run-refused'))
    for (const token of ['', 'x', undefined, 0] as never[]) {
      await expect(steps.checkPlanFresh({ ...run, run: token })).rejects.toEqual(refused('apply/run-refused'))
    }
  })

  test('an outcome is kept only of what the API has said', async () => {
    const { plan, run } = await begun([tagBatch('h9')])
    await steps.checkPlanFresh(run)
    await steps.spendPlan(run)
    const batches = [{ index: 0, type: '', summary: '', state: 'completed', activityId: 'x' }] as const
    const outcome = { planDigest: plan.digest, state: 'done', startedAt: '', batches } as const
    await expect(steps.recordOutcome({ run: run.run, outcome })).rejects.toEqual(refused('apply/outcome-refused'))
    expect(await stage.store.getOutcome(plan)).toBeUndefined()
  })
})
