import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActivityType } from '../../../src/protocol/index.ts'
import { createTestClock, createTestUser, type Refused, startTestService, type TestService } from '../harness.ts'
import { complete, exhausted, fresh, invalid, invalidField, missing, NOBODY, type Refusal, refusalOf } from './steps.ts'

const clock = createTestClock()
let service: TestService
let policyId: string
const ops = 'ops'
beforeAll(async () => {
  service = await startTestService({ clock })
  policyId = (await make({ policyName: ops })).policyId
})
afterAll(() => service.close())

const policy = (overrides: object = {}) => ({ policyName: fresh('policy'), effect: 'EFFECT_ALLOW', ...overrides })
const make = (overrides: object = {}) => complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy(overrides))
const read = async (id: string) => (await service.root.query('get_policy', { policyId: id })).policy
const list = async () => (await service.root.query('list_policies')).policies

describe('create_policy', () => {
  test('create_policy: the texts come back exactly as they were sent, "" where there was none', async () => {
    const texts = {
      consensus: "approvers.any( user,user.id=='x' )",
      condition: ' true ',
      notes: 'first line\nsecond',
    }
    const { policyId: id } = await make({ policyName: 'exact', effect: 'EFFECT_DENY', ...texts })
    const now = { seconds: '1750000000', nanos: '0' }
    const base = { policyId: id, createdAt: now, updatedAt: now }
    expect(await read(id)).toEqual({ ...base, policyName: 'exact', effect: 'EFFECT_DENY', ...texts })
    const bare = await make({ policyName: 'bare', time: '' })
    const empty = { consensus: '', condition: '', notes: '' }
    expect(await read(bare.policyId)).toEqual({
      ...base,
      policyId: bare.policyId,
      policyName: 'bare',
      effect: 'EFFECT_ALLOW',
      ...empty,
    })
  })

  test('create_policies: all are made, in the order of the request', async () => {
    const policies = [policy(), policy({ effect: 'EFFECT_DENY', condition: 'true' }), policy()]
    const { policyIds } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICIES', { policies })
    const made = (await list()).slice(-3)
    expect(made.map((row) => row.policyId)).toEqual(policyIds)
    expect(made.map((row) => row.policyName)).toEqual(policies.map((row) => row.policyName))
  })

  const refusals: { name: string; given: () => object; expected: Refusal }[] = [
    {
      name: 'a name that is taken',
      given: () => policy({ policyName: ops }),
      expected: invalid('policy label must be unique'),
    },
    {
      name: 'an empty consensus',
      given: () => policy({ consensus: '' }),
      expected: invalid(
        'invalid policy consensus: Expression cannot be evaluated: parse error: Unrecognized EOF found at 0',
      ),
    },
    {
      name: 'an empty condition',
      given: () => policy({ condition: '' }),
      expected: invalid(
        'invalid policy condition: Expression cannot be evaluated: parse error: Unrecognized EOF found at 0',
      ),
    },
    {
      name: 'a field that does not exist',
      given: () => policy({ condition: "activity.path == 'x'" }),
      expected: invalid('invalid policy condition: Expression cannot be evaluated: field does not exist: path'),
    },
    {
      name: 'a time without the feature',
      given: () => policy({ time: "time.now > Timestamp('2030-01-01T00:00:00Z')" }),
      expected: invalid('invalid policy time: the feature is not enabled for this organization'),
    },
    {
      name: 'an effect that does not exist',
      given: () => policy({ effect: 'EFFECT_MAYBE' }),
      expected: invalidField('effect', 'must be one of EFFECT_ALLOW, EFFECT_DENY'),
    },
  ]
  test.each(refusals)('create_policy: $name is refused', async ({ given, expected }) => {
    const before = await list()
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', given()))).toEqual(expected)
    expect(await list()).toEqual(before)
  })

  test.each(refusals.slice(0, -1))('create_policies: $name refuses them all', async ({ given, expected }) => {
    const before = await list()
    const policies = [policy(), given(), policy()]
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_POLICIES', { policies }))).toEqual(expected)
    expect(await list()).toEqual(before)
  })

  test('create_policies: one name twice in a request refuses them all', async () => {
    const policies = [policy({ policyName: 'twin' }), policy({ policyName: 'twin' })]
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_POLICIES', { policies }))).toEqual(
      invalid('policy label must be unique'),
    )
  })

  test.each([
    {
      type: 'ACTIVITY_TYPE_CREATE_POLICY' as const,
      selector: { subject: 'x', operator: 'OPERATOR_EQUAL', target: 'y' },
    },
    {
      type: 'ACTIVITY_TYPE_CREATE_POLICY_V2' as const,
      selector: { subject: 'x', operator: 'OPERATOR_IN', targets: ['y'] },
    },
  ])('create_policy: $type with its selectors is refused', async ({ type, selector }) => {
    expect(await refusalOf(service.root.submit(type, { ...policy(), selectors: [selector] }))).toEqual([
      501,
      12,
      `activity ${type} (selectors are superseded by expressions, use ACTIVITY_TYPE_CREATE_POLICY_V3) is not implemented by this service`,
      '',
    ])
  })
})

describe('update_policy', () => {
  test.each([{ type: 'ACTIVITY_TYPE_UPDATE_POLICY' as const }, { type: 'ACTIVITY_TYPE_UPDATE_POLICY_V2' as const }])(
    'update_policy: $type leaves alone what is absent',
    async ({ type }) => {
      const texts = { consensus: 'true', condition: 'false', notes: 'n' }
      const { policyId: id } = await make(texts)
      const before = await read(id)
      clock.advance(1_000)
      const activity = await service.root.submit(type, { policyId: id, policyEffect: 'EFFECT_DENY' })
      const key = type.endsWith('V2') ? 'updatePolicyResultV2' : 'updatePolicyResult'
      expect(activity.result).toMatchObject({ [key]: { policyId: id } })
      const updatedAt = { seconds: String(clock() / 1000), nanos: '0' }
      expect(await read(id)).toEqual({ ...before, effect: 'EFFECT_DENY', updatedAt })
      const change = {
        policyName: fresh('renamed'),
        policyConsensus: 'false',
        policyCondition: 'true',
        policyNotes: '',
      }
      await complete(service.root, type, { policyId: id, ...change })
      expect(await read(id)).toEqual({
        ...before,
        policyName: change.policyName,
        effect: 'EFFECT_DENY',
        consensus: 'false',
        condition: 'true',
        notes: '',
        updatedAt,
      })
    },
  )

  test('update_policy: a policy may be given the name that it has, and an empty time', async () => {
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId, policyName: ops, time: '' })
    expect(await read(policyId)).not.toHaveProperty('time')
  })

  test.each<{ name: string; change: () => Promise<object> | object; expected: () => Refusal }>([
    {
      name: 'an unknown one',
      change: () => ({ policyId: NOBODY }),
      expected: () => missing(`policy not found: ${NOBODY}`),
    },
    {
      name: 'the name of another',
      change: async () => ({ ...(await make()), policyName: ops }),
      expected: () => invalid('policy label must be unique'),
    },
    {
      name: 'an empty consensus',
      change: () => ({ policyId, policyConsensus: '' }),
      expected: () =>
        invalid('invalid policy consensus: Expression cannot be evaluated: parse error: Unrecognized EOF found at 0'),
    },
    {
      name: 'a condition that does not type',
      change: () => ({ policyId, policyCondition: 'approvers.count() > 1' }),
      expected: () => invalid(expect.stringMatching(/^invalid policy condition: Expression cannot be evaluated: /)),
    },
    {
      name: 'a time without the feature',
      change: () => ({ policyId, time: "time.now > Timestamp('2030-01-01T00:00:00Z')" }),
      expected: () => invalid('invalid policy time: the feature is not enabled for this organization'),
    },
  ])('update_policy: $name is refused', async ({ change, expected }) => {
    const given = await change()
    const before = await list()
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', given))).toEqual(expected())
    expect(await list()).toEqual(before)
  })
})

describe('policy time', () => {
  const feature = { name: 'FEATURE_NAME_POLICY_TIME' }
  const time = "time.now < Timestamp('2025-07-01T00:00:00Z')"
  const disabled = invalid('invalid policy time: the feature is not enabled for this organization')

  test('policy time: with the feature it is taken, read back and changed, and stays when the feature goes', async () => {
    await complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', feature)
    const { policyId } = await make({ time })
    expect((await read(policyId)).time).toBe(time)
    const later = "time.now >= Timestamp('2025-07-01T00:00:00Z')"
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId, time: later })
    expect((await read(policyId)).time).toBe(later)
    const wrong = refusalOf(make({ time: 'time.now' }))
    expect(await wrong).toEqual(invalid(expect.stringMatching(/^invalid policy time: /)))
    await complete(service.root, 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', feature)
    expect((await read(policyId)).time).toBe(later)
    expect(await refusalOf(make({ time }))).toEqual(disabled)
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId, time: '' })
    expect(await read(policyId)).not.toHaveProperty('time')
  })

  test('policy time: outside of its time a policy allows nothing, and the evaluation says so', async () => {
    const later = createTestClock()
    const other = await startTestService({ clock: later })
    try {
      const { userId, client } = await createTestUser(other, 'bob')
      await complete(other.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', feature)
      const timed = policy({ consensus: `approvers.any(user, user.id == '${userId}')`, time })
      const { policyId: id } = await complete(other.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', timed)
      await complete(client, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'in time', userIds: [] })
      later.advance(365 * 86_400_000)
      const tag = { userTagName: 'late', userIds: [] }
      const denied = await client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag).catch((error: unknown) => error)
      const [detail] = (denied as Refused).body['details'] as { policyEvaluations: unknown[] }[]
      expect(detail!.policyEvaluations).toEqual([{ policyId: id, outcome: 'OUTCOME_TIME_INACTIVE' }])
    } finally {
      await other.close()
    }
  })
})

describe('delete_policies', () => {
  test('delete_policies: one and several go, and their names are free again', async () => {
    const [first, second, third] = [await make({ policyName: 'again' }), await make(), await make()]
    expect(await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICY', first)).toEqual(first)
    const policyIds = [third.policyId, second.policyId]
    expect(await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICIES', { policyIds })).toEqual({ policyIds })
    const left = (await list()).map((row) => row.policyId)
    expect(left.filter((id) => [first.policyId, ...policyIds].includes(id))).toEqual([])
    await make({ policyName: 'again' })
  })

  test.each<{ name: string; type: ActivityType; parameters: () => object; expected: () => Refusal }>([
    {
      name: 'an unknown one',
      type: 'ACTIVITY_TYPE_DELETE_POLICY',
      parameters: () => ({ policyId: NOBODY }),
      expected: () => missing(`policy not found: ${NOBODY}`),
    },
    {
      name: 'an unknown one among others',
      type: 'ACTIVITY_TYPE_DELETE_POLICIES',
      parameters: () => ({ policyIds: [policyId, NOBODY] }),
      expected: () => missing(`policy not found: ${NOBODY}`),
    },
    {
      name: 'one twice',
      type: 'ACTIVITY_TYPE_DELETE_POLICIES',
      parameters: () => ({ policyIds: [policyId, policyId] }),
      expected: () => invalidField('policyIds', `must not mention \`${policyId}\` twice`),
    },
  ])('delete_policies: $name is refused, and nothing is deleted', async ({ type, parameters, expected }) => {
    const before = await list()
    expect(await refusalOf(service.root.submit(type, parameters()))).toEqual(expected())
    expect(await list()).toEqual(before)
  })
})

test('policies: the hundred and first is refused', async () => {
  const { length } = await list()
  const policies = Array.from({ length: 100 - length }, () => policy())
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICIES', { policies })
  const full = exhausted('organization has exceeded maximum policies (100)')
  expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', policy()))).toEqual(full)
  await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICY', { policyId })
  const two = { policies: [policy(), policy()] }
  expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_POLICIES', two))).toEqual(full)
  await make()
})
