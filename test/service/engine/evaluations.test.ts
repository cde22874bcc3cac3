/** What is kept of each decision: `get_policy_evaluations` tells it vote by vote and policy by policy. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorize, compilePolicy, type PolicyContext, type PolicyText } from '../../../src/policy/index.ts'
import { fingerprintOf } from '../../../src/protocol/index.ts'
import { createTestClock, createTestUser, startTestService, type TestService, type TestUser } from '../harness.ts'

const clock = createTestClock()
let service: TestService
let alice: TestUser
let bob: TestUser
let carol: TestUser
let dave: TestUser
let policies: readonly PolicyText[]

beforeAll(async () => {
  service = await startTestService({ clock })
  alice = await createTestUser(service, 'alice')
  bob = await createTestUser(service, 'bob')
  carol = await createTestUser(service, 'carol')
  dave = await createTestUser(service, 'dave')
  const made = ['CREATE_USER_TAG', 'CREATE_PRIVATE_KEY_TAG']
  const texts: readonly Omit<PolicyText, 'id'>[] = [
    {
      name: 'two together',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.filter(u, u.id in ['${alice.userId}', '${bob.userId}', '${dave.userId}']).count() >= 2`,
      condition: `activity.kind in ['${made.join("', '")}']`,
    },
    { name: 'errs', effect: 'EFFECT_ALLOW', condition: "wallet.label == 'none'" },
    { name: 'of other things', effect: 'EFFECT_DENY', condition: "activity.kind == 'DELETE_WALLETS'" },
    {
      name: 'not with carol or dave',
      effect: 'EFFECT_DENY',
      consensus: `approvers.any(u, u.id in ['${carol.userId}', '${dave.userId}'])`,
      condition: "activity.kind == 'CREATE_PRIVATE_KEY_TAG'",
    },
  ]
  const ids: string[] = []
  for (const { name, ...rest } of texts) {
    const activity = await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: name,
      notes: '',
      ...rest,
    })
    ids.push(activity.result.createPolicyResult!.policyId)
  }
  policies = texts.map((text, at) => ({ ...text, id: ids[at]! }))
})
afterAll(() => service.close())

let tags = 0
const tagOf = () => service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `tag-${tags++}`, userIds: [] })
const evaluationsOf = async (activityId: string) =>
  (await alice.client.query('get_policy_evaluations', { activityId })).policyEvaluations

/** What the library says of the same request, by the names of the policies. */
function decided(voters: readonly TestUser[], type = 'ACTIVITY_TYPE_CREATE_USER_TAG') {
  const context: PolicyContext = {
    now: BigInt(clock()) * 1_000_000n,
    activity: { type },
    approvers: voters.map(({ userId }) => ({ id: userId })),
  }
  return authorize(policies.map(compilePolicy), context).policies.map(({ policyId, outcome }) => ({
    policyId,
    outcome,
  }))
}
const outcomes = (evaluations: readonly { readonly outcome?: string }[]) => evaluations.map(({ outcome }) => outcome)

describe('evaluations', () => {
  test('evaluations: one for each vote, with the outcome of every policy, as the library decides', async () => {
    const waiting = await alice.client.send(tagOf())
    expect(waiting.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const [first, ...none] = await evaluationsOf(waiting.id)
    expect(none).toEqual([])
    expect(outcomes(first!.policyEvaluations)).toEqual([
      'OUTCOME_REQUIRES_CONSENSUS',
      'OUTCOME_ERROR',
      'OUTCOME_DENY_IMPLICIT',
      'OUTCOME_DENY_IMPLICIT',
    ])
    expect(first!.policyEvaluations).toEqual(decided([alice]))

    const done = await bob.client.approve(waiting.fingerprint)
    expect(done.status).toBe('ACTIVITY_STATUS_COMPLETED')
    const both = await evaluationsOf(waiting.id)
    expect(both.map(({ policyEvaluations }) => policyEvaluations)).toEqual([decided([alice]), decided([alice, bob])])
    expect(outcomes(both[1]!.policyEvaluations)[0]).toBe('OUTCOME_ALLOW')
    expect(both.map(({ voteId }) => voteId)).toEqual(done.votes.map(({ id }) => id))
    for (const { activityId, organizationId, createdAt } of both)
      expect({ activityId, organizationId, createdAt }).toEqual({
        activityId: waiting.id,
        organizationId: waiting.organizationId,
        createdAt: { seconds: String(clock() / 1000), nanos: '0' },
      })
    expect(new Set(both.map(({ id }) => id)).size).toBe(2)
  })

  test('evaluations: the root quorum asks no policy, and neither does a rejection', async () => {
    const byRoot = await service.root.send(tagOf())
    expect((await evaluationsOf(byRoot.id)).map(({ policyEvaluations }) => policyEvaluations)).toEqual([[]])
    const waiting = await alice.client.send(tagOf())
    const rejected = await bob.client.reject(waiting.fingerprint)
    expect(rejected.status).toBe('ACTIVITY_STATUS_REJECTED')
    expect((await evaluationsOf(waiting.id)).map(({ policyEvaluations }) => policyEvaluations)).toEqual([
      decided([alice]),
      [],
    ])
  })

  test('evaluations: a denial tells each policy in its answer, and is kept as a failed activity', async () => {
    for (const [type, message] of [
      ['ACTIVITY_TYPE_CREATE_USER_TAG', 'No policies evaluated to outcome: Allow'],
      ['ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', `The following policies denied this action: ${policies[3]!.id}`],
    ] as const) {
      const parameters =
        type === 'ACTIVITY_TYPE_CREATE_USER_TAG'
          ? { userTagName: 'x', userIds: [] }
          : { privateKeyTagName: 'x', privateKeyIds: [] }
      await expect(carol.client.submit(type, parameters)).rejects.toMatchObject({
        status: 403,
        body: { code: 7, details: [{ message, policyEvaluations: decided([carol], type) }] },
      })
      const [kept] = (await service.root.query('list_activities', { filterByType: [type] })).activities
      expect(kept).toMatchObject({
        status: 'ACTIVITY_STATUS_FAILED',
        type,
        result: {},
        failure: { code: 7, details: [{ message }] },
        votes: [{ userId: carol.userId }],
        canApprove: false,
        canReject: false,
      })
      expect(kept!.fingerprint).toBe(fingerprintOf(kept!.votes[0]!.message))
      const [evaluation, ...others] = await evaluationsOf(kept!.id)
      expect(others).toEqual([])
      expect(evaluation).toMatchObject({
        activityId: kept!.id,
        voteId: kept!.votes[0]!.id,
        policyEvaluations: decided([carol], type),
      })
    }
  })

  test('evaluations: bytes that were denied are judged anew, and the denied request counts for nothing', async () => {
    const body = tagOf()
    const kept = async () =>
      (await service.root.query('list_activities')).activities.filter(
        ({ fingerprint }) => fingerprint === fingerprintOf(body.text),
      )
    await expect(carol.client.send(body)).rejects.toMatchObject({ status: 403 })
    await expect(carol.client.send(body)).rejects.toMatchObject({ status: 403 })
    // Decided as before, it is only counted.
    expect((await kept()).map(({ status }) => status)).toEqual(['ACTIVITY_STATUS_FAILED'])
    // By its fingerprint nobody finds it, so nobody can bring it to life.
    await expect(service.root.approve(fingerprintOf(body.text))).rejects.toMatchObject({ status: 404 })
    const waiting = await alice.client.send(body)
    expect(waiting).toMatchObject({ status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', votes: [{ userId: alice.userId }] })
    expect((await evaluationsOf(waiting.id)).map(({ policyEvaluations }) => policyEvaluations)).toEqual([
      decided([alice]),
    ])
    expect((await bob.client.approve(waiting.fingerprint)).status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect((await kept()).length).toBe(2)
  })

  test('evaluations: a vote that turns the decision into a denial is refused and told of, and the activity waits on', async () => {
    const type = 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG'
    const body = service.body(type, { privateKeyTagName: 'y', privateKeyIds: [] })
    const waiting = await alice.client.send(body)
    const [first] = await evaluationsOf(waiting.id)
    const read = () => alice.client.query('get_activity', { activityId: waiting.id })
    const before = await read()
    const denied = decided([alice, dave], type)
    // By the bytes of the submission and by its fingerprint.
    for (const vote of [() => dave.client.send(body), () => dave.client.approve(waiting.fingerprint)]) {
      clock.advance(1_000)
      await expect(vote()).rejects.toMatchObject({
        status: 403,
        body: { code: 7, details: [{ policyEvaluations: denied }] },
      })
    }
    expect(await read()).toEqual(before)
    clock.advance(1_000)
    const done = await bob.client.approve(waiting.fingerprint)
    expect(done.status).toBe('ACTIVITY_STATUS_COMPLETED')
    const told = await evaluationsOf(waiting.id)
    expect(told[0]).toEqual(first)
    expect(told.map(({ policyEvaluations }) => policyEvaluations)).toEqual([
      decided([alice], type),
      denied,
      denied,
      decided([alice, bob], type),
    ])
    const [submitted, bobs] = done.votes.map(({ id }) => id)
    const [, one, other] = told.map(({ voteId }) => voteId)
    expect(told.map(({ voteId }) => voteId)).toEqual([submitted, one, other, bobs])
    expect(new Set([submitted, one, other, bobs]).size).toBe(4)
    expect(told.map(({ createdAt }) => Number(createdAt.seconds) - Number(first!.createdAt.seconds))).toEqual([
      0, 1, 2, 3,
    ])
  })

  test('evaluations: those of an activity of nobody are not found', async () => {
    await expect(evaluationsOf('00000000-0000-4000-8000-000000000000')).rejects.toMatchObject({ status: 404 })
  })
})
