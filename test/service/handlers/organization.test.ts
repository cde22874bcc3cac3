import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createTestUser, startTestService, type TestService, type TestUser } from '../harness.ts'
import { complete, invalid, invalidField, missing, NOBODY, type Refusal, refusalOf } from './steps.ts'

let service: TestService
let alice: TestUser
let bob: TestUser
beforeAll(async () => {
  service = await startTestService()
  alice = await createTestUser(service, 'alice')
  bob = await createTestUser(service, 'bob')
})
afterAll(() => service.close())

const configs = async () => (await service.root.query('get_organization_configs')).configs

describe('update_root_quorum', () => {
  const quorum = (threshold: number, userIds: readonly string[]) => ({ threshold, userIds })

  test('update_root_quorum: the members stand in the order given, and it takes as many of them as it says', async () => {
    const members = [bob.userId, service.rootUserId, alice.userId]
    expect(await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', quorum(2, members))).toEqual({})
    expect((await configs()).quorum).toEqual({ threshold: 2, userIds: members })
    const back = await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', quorum(1, [service.rootUserId]))
    expect(back.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    expect((await bob.client.approve(back.fingerprint)).status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect((await configs()).quorum).toEqual({ threshold: 1, userIds: [service.rootUserId] })
  })

  test.each<{ name: string; given: () => object; expected: () => Refusal }>([
    {
      name: 'a threshold of zero',
      given: () => quorum(0, [alice.userId]),
      expected: () => invalid('quorum threshold must be non-zero integer'),
    },
    {
      name: 'a threshold below zero',
      given: () => quorum(-1, [alice.userId]),
      expected: () => invalid('quorum threshold must be non-zero integer'),
    },
    { name: 'nobody', given: () => quorum(1, []), expected: () => invalid('quorum users missing') },
    { name: 'no list of users', given: () => ({ threshold: 1 }), expected: () => invalid('quorum users missing') },
    {
      name: 'an unknown user',
      given: () => quorum(1, [alice.userId, NOBODY]),
      expected: () => missing(`unable to find user ${NOBODY} in organization ${service.organizationId}`),
    },
    {
      name: 'a threshold that cannot be reached',
      given: () => quorum(3, [alice.userId, bob.userId]),
      expected: () => invalid('quorum threshold 3 exceeds the number of quorum users 2'),
    },
    {
      name: 'a user twice, who would count once',
      given: () => quorum(2, [alice.userId, alice.userId]),
      expected: () => invalidField('userIds', `must not mention \`${alice.userId}\` twice`),
    },
  ])('update_root_quorum: $name is refused, and the quorum stays', async ({ given, expected }) => {
    const before = (await configs()).quorum
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', given()))).toEqual(expected())
    expect((await configs()).quorum).toEqual(before)
  })

  test('update_root_quorum: who joins the quorum while being deleted stays, and the deletion fails', async () => {
    const carol = await createTestUser(service, 'carol')
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', quorum(2, [service.rootUserId, bob.userId]))
    const deletion = await service.root.submit('ACTIVITY_TYPE_DELETE_USERS', { userIds: [carol.userId] })
    expect(deletion.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const joining = quorum(1, [service.rootUserId, carol.userId, bob.userId])
    const joined = await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', joining)
    await bob.client.approve(joined.fingerprint)
    const failed = await bob.client.approve(deletion.fingerprint)
    expect(failed.status).toBe('ACTIVITY_STATUS_FAILED')
    expect(failed.failure).toMatchObject({
      code: 3,
      message: `user ${carol.userId} is in the root quorum and must leave it before being deleted`,
    })
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', quorum(1, [service.rootUserId]))
  })
})

describe('update_organization_name', () => {
  test('update_organization_name: the new name is everywhere', async () => {
    const { organizationId } = service
    const change = { organizationName: 'Acme' }
    expect(await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME', change)).toEqual({
      organizationId,
      organizationName: 'Acme',
    })
    expect((await service.root.query('whoami')).organizationName).toBe('Acme')
    expect((await service.root.query('get_organization')).organizationData.name).toBe('Acme')
  })

  test('update_organization_name: no policy can allow it', async () => {
    const allow = { policyName: 'anything', effect: 'EFFECT_ALLOW', consensus: 'true', condition: 'true' }
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', allow)
    const change = { organizationName: 'Bob Inc' }
    const refusal = await refusalOf(bob.client.submit('ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME', change))
    expect(refusal.slice(0, 2)).toEqual([403, 7])
  })
})

describe('organization features', () => {
  const set = (name: string, value?: string) =>
    complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', {
      name,
      ...(value === undefined ? {} : { value }),
    })
  const remove = (name: string) => complete(service.root, 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', { name })
  afterEach(async () => {
    for (const { name } of (await configs()).features ?? []) await remove(name!)
  })

  test('organization features: each is set, changed and removed, and the answer is the whole list', async () => {
    const email = { name: 'FEATURE_NAME_EMAIL_AUTH', value: '' }
    const origin = { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'https://app.example.com' }
    expect(await set(email.name)).toEqual({ features: [email] })
    expect(await set(origin.name, 'http://localhost:3000')).toMatchObject({ features: [email, { name: origin.name }] })
    expect(await set(origin.name, origin.value)).toEqual({ features: [email, origin] })
    expect((await configs()).features).toEqual([email, origin])
    expect(await remove(email.name)).toEqual({ features: [origin] })
    expect((await configs()).features).toEqual([origin])
  })

  test.each([
    { name: 'FEATURE_NAME_EMAIL_RECOVERY', value: '' },
    { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'https://app.example.com' },
    { name: 'FEATURE_NAME_EMAIL_AUTH', value: '' },
    { name: 'FEATURE_NAME_OTP_EMAIL_AUTH', value: '' },
    { name: 'FEATURE_NAME_SMS_AUTH', value: '' },
    { name: 'FEATURE_NAME_WEBHOOK', value: 'https://1.1.1.1/hook' },
    { name: 'FEATURE_NAME_AUTH_PROXY', value: '' },
    { name: 'FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED', value: 'true' },
    { name: 'FEATURE_NAME_SWAP_CONFIG', value: '{"fee":1}' },
    { name: 'FEATURE_NAME_EARN_CONFIG', value: '{}' },
    { name: 'FEATURE_NAME_POLICY_TIME', value: '' },
  ])('organization features: $name is kept with its value as it was sent', async (feature) => {
    expect(await set(feature.name, feature.value)).toEqual({ features: [feature] })
    expect((await configs()).features).toEqual([feature])
  })

  test('organization features: the old name of a feature is the same feature', async () => {
    await set('FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY', 'a')
    const { features } = await set('FEATURE_NAME_EMAIL_RECOVERY', 'b')
    expect(features).toEqual([{ name: 'FEATURE_NAME_EMAIL_RECOVERY', value: 'b' }])
    expect(await remove('FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY')).toEqual({ features: [] })
  })

  test.each<{ name: string; feature: { name: string; value?: string }; expected: Refusal }>([
    {
      name: 'an unknown one',
      feature: { name: 'FEATURE_NAME_PONIES' },
      expected: invalid(expect.stringContaining('field `name`')),
    },
    {
      name: 'an origin with a path',
      feature: { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'https://app.example.com/x' },
      expected: invalidField('value', 'must be an origin such as `https://app.example.com`'),
    },
    {
      name: 'no origin',
      feature: { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS' },
      expected: invalidField('value', 'must be an origin such as `https://app.example.com`'),
    },
    {
      name: 'a webhook at a private address',
      feature: { name: 'FEATURE_NAME_WEBHOOK', value: 'https://10.0.0.1/hook' },
      expected: invalidField('value', 'must name a public host, not `10.0.0.1`'),
    },
    {
      name: 'a value that is too long',
      feature: { name: 'FEATURE_NAME_EARN_CONFIG', value: 'x'.repeat(2049) },
      expected: invalidField('value', 'must have at most 2048 characters'),
    },
    {
      name: 'a webhook that is no URL',
      feature: { name: 'FEATURE_NAME_WEBHOOK', value: 'javascript:alert(1)' },
      expected: invalidField('value', 'must be an https URL'),
    },
  ])('organization features: $name is refused', async ({ feature, expected }) => {
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', feature))).toEqual(expected)
    expect((await configs()).features).toEqual([])
  })

  test('organization features: removing one that is not set is refused', async () => {
    expect(await refusalOf(remove('FEATURE_NAME_SMS_AUTH'))).toEqual(
      missing('organization feature not found: FEATURE_NAME_SMS_AUTH'),
    )
  })
})
