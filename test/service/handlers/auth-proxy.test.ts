import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorize, compilePolicy } from '../../../src/policy/index.ts'
import { type ActivityType, activities } from '../../../src/protocol/index.ts'
import { startTestService, type TestService } from '../harness.ts'
import { stealProxyKey } from '../proxy-key.ts'
import { sampleOf } from './sample.ts'
import { addTenant, complete, invalidField, newKey, refusalOf, type Tenant } from './steps.ts'

let service: TestService
let child: Tenant
beforeAll(async () => {
  service = await startTestService()
  child = await addTenant(service, { parentId: service.organizationId })
})
afterAll(() => service.close())

const enable = () => complete(service.root, 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
const disable = () => complete(service.root, 'ACTIVITY_TYPE_DISABLE_AUTH_PROXY', {})
const update = (settings: object) => complete(service.root, 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG', settings)
const users = async () => (await service.root.query('list_users')).users
const policies = async () => (await service.root.query('list_policies')).policies

describe('authentication proxy', () => {
  test('authentication proxy: the configuration has an id before it is enabled, and keeps it', async () => {
    const { authProxyConfigId } = JSON.parse(readFileSync(join(service.dataDir, 'bootstrap.json'), 'utf8'))
    expect(await update({})).toEqual({ configId: authProxyConfigId })
    const { userId } = await enable()
    expect((await update({ sessionExpirationSeconds: 60 })).configId).toBe(authProxyConfigId)
    await disable()
    expect((await update({})).configId).toBe(authProxyConfigId)
    expect((await users()).map((user) => user.userId)).not.toContain(userId)
  })

  test('authentication proxy: enabling makes a user with one key and one policy, disabling takes them away', async () => {
    const before = { users: await users(), policies: await policies() }
    const { userId } = await enable()
    const user = (await users()).find((each) => each.userId === userId)!
    expect([user.userName, user.apiKeys.length, user.authenticators]).toEqual(['Auth Proxy', 1, []])
    const [policy] = (await policies()).filter(({ policyName }) => policyName === 'Auth Proxy')
    expect(policy).toMatchObject({
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${userId}')`,
      condition:
        "(activity.resource == 'AUTH' && activity.action == 'CREATE') || (activity.resource == 'OTP' && activity.action == 'CREATE') || (activity.resource == 'OTP' && activity.action == 'VERIFY') || (activity.resource == 'ORGANIZATION' && activity.action == 'CREATE')",
    })
    expect(await enable()).toEqual({ userId })
    expect(await disable()).toEqual({})
    expect(await disable()).toEqual({})
    expect({ users: await users(), policies: await policies() }).toEqual(before)
  })

  test('authentication proxy: enabling puts back what was deleted of it', async () => {
    const { userId } = await enable()
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_USERS', { userIds: [userId] })
    const again = await enable()
    expect(again.userId).not.toBe(userId)
    const own = (await policies()).filter(({ policyName }) => policyName === 'Auth Proxy')
    expect(own.map(({ consensus }) => consensus)).toEqual([`approvers.any(user, user.id == '${again.userId}')`])
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICY', { policyId: own[0]!.policyId })
    expect((await enable()).userId).not.toBe(again.userId)
    await disable()
  })

  test('authentication proxy: a taken name of its policy is no obstacle', async () => {
    const policy = { policyName: 'Auth Proxy', effect: 'EFFECT_DENY', condition: 'false', notes: '' }
    const { policyId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
    const { userId } = await enable()
    expect((await policies()).map(({ policyName }) => policyName)).toContain(`Auth Proxy ${userId}`)
    await disable()
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICY', { policyId })
  })

  test('authentication proxy: a proxy user in the root quorum is not taken out of it by disabling', async () => {
    const { userId } = await enable()
    const quorum = (userIds: string[]) =>
      complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 1, userIds })
    await quorum([service.rootUserId, userId])
    expect(await refusalOf(disable())).toEqual([
      400,
      3,
      `user ${userId} is in the root quorum and must leave it before being deleted`,
      'REQUEST_INVALID',
    ])
    await quorum([service.rootUserId])
    await disable()
  })

  test('authentication proxy: a sub-organization has none', async () => {
    const { client, organizationId } = child
    for (const type of ['ENABLE_AUTH_PROXY', 'DISABLE_AUTH_PROXY', 'UPDATE_AUTH_PROXY_CONFIG']) {
      const sent = client.submit(`ACTIVITY_TYPE_${type}` as ActivityType, {}, { organizationId })
      expect(await refusalOf(sent)).toEqual([
        403,
        7,
        'request not authorized: an authentication proxy can be had by a parent organization alone',
        'REQUEST_NOT_AUTHORIZED',
      ])
    }
  })

  const origins =
    'must be exact origins such as `https://app.example.com`, or `*` for any; a part of one cannot be a wildcard'
  const methods = 'must be some of email, sms, passkey, wallet, oauth, google, apple, facebook, x, discord'
  test.each<[given: object, field: string, rule: string]>([
    [{ allowedOrigins: ['https://*.acme.test'] }, 'allowedOrigins', origins],
    [{ allowedOrigins: ['https://acme.test', '**'] }, 'allowedOrigins', origins],
    [{ allowedOrigins: ['https://acme.test/'] }, 'allowedOrigins', origins],
    [{ allowedOrigins: ['https://acme.test:443'] }, 'allowedOrigins', origins],
    [{ allowedOrigins: ['https://Acme.test'] }, 'allowedOrigins', origins],
    [{ allowedOrigins: ['null'] }, 'allowedOrigins', origins],
    [{ allowedOrigins: [''] }, 'allowedOrigins', origins],
    [{ allowedOrigins: ['acme.test'] }, 'allowedOrigins', origins],
    [{ allowedOrigins: ['javascript:alert(1)'] }, 'allowedOrigins', origins],
    [{ allowedAuthMethods: ['EMAIL'] }, 'allowedAuthMethods', methods],
    [{ allowedAuthMethods: ['password'] }, 'allowedAuthMethods', methods],
    [
      { walletKitSettings: { enabledSocialProviders: ['email'] } },
      'walletKitSettings.enabledSocialProviders',
      'must be some of google, apple, facebook, x, discord',
    ],
    [{ walletKitSettings: { oauthRedirectUrl: '/back' } }, 'walletKitSettings.oauthRedirectUrl', 'must be a URL'],
    [{ otpExpirationSeconds: 601 }, 'otpExpirationSeconds', 'must be at most 600 seconds'],
    [
      { verificationTokenExpirationSeconds: 86_401 },
      'verificationTokenExpirationSeconds',
      'must be at most 86400 seconds',
    ],
    [{ sessionExpirationSeconds: -1 }, 'sessionExpirationSeconds', 'must be at most 2592000 seconds'],
    [{ socialLinkingClientIds: [''] }, 'socialLinkingClientIds', 'must not be empty'],
  ])('authentication proxy: %j is refused', async (given, field, rule) => {
    expect(await refusalOf(update(given))).toEqual(invalidField(field, rule))
  })

  test('authentication proxy: the published checks hold too', async () => {
    for (const given of [
      { otpLength: 5 },
      { otpLength: 10 },
      { otpTemplateId: 'mine' },
      { sendFromEmailAddress: 'x' },
    ]) {
      expect((await refusalOf(update(given))).slice(0, 2)).toEqual([400, 3])
    }
  })

  test('authentication proxy: origins of web views and the limits themselves are taken', async () => {
    await update({
      allowedOrigins: ['https://acme.test', 'http://localhost:3000', 'capacitor://localhost', '*'],
      otpExpirationSeconds: 600,
      verificationTokenExpirationSeconds: 86_400,
      sessionExpirationSeconds: 2_592_000,
      otpLength: 9,
    })
    await update({ allowedOrigins: [], otpExpirationSeconds: 0, otpLength: 0, sessionExpirationSeconds: 0 })
  })
})

describe("the proxy's key", () => {
  /** All that the policy of the proxy's user names. */
  const isAllowed = ({ resource, action }: { readonly resource?: string; readonly action?: string }) =>
    ['AUTH CREATE', 'OTP CREATE', 'OTP VERIFY', 'ORGANIZATION CREATE'].includes(`${resource} ${action}`)
  const rows = Object.values(activities)

  test("the proxy's key: its policy allows what four pairs of resource and action name, and no other type", async () => {
    const { userId } = await enable()
    const [policy] = (await policies()).filter(({ policyName }) => policyName === 'Auth Proxy')
    const compiled = compilePolicy({
      id: policy!.policyId,
      name: policy!.policyName,
      effect: 'EFFECT_ALLOW',
      consensus: policy!.consensus!,
      condition: policy!.condition!,
    })
    const outcomeOf = (type: ActivityType, id: string) =>
      authorize([compiled], { now: 0n, activity: { type }, approvers: [{ id }] }).outcome
    const allowed = rows.filter(({ type }) => outcomeOf(type, userId) === 'OUTCOME_ALLOW')
    expect(allowed.map(({ type }) => type)).toEqual(rows.filter(isAllowed).map(({ type }) => type))
    expect(rows.filter(({ type }) => outcomeOf(type, service.rootUserId) === 'OUTCOME_ALLOW')).toEqual([])
    await disable()
  })

  test("the proxy's key: every other activity of the catalogue is denied to it, and changes nothing", async () => {
    const { userId } = await enable()
    const thief = await stealProxyKey(service)
    const { apiKeyIds } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', {
      userId,
      apiKeys: [newKey()],
    })
    const others = rows.filter((row) => !isAllowed(row))
    expect(others.length).toBeGreaterThan(100)
    const state = async () =>
      JSON.stringify([
        await service.root.query('get_organization'),
        await service.root.query('get_organization_configs'),
      ])
    const before = await state()
    const denied: string[] = []
    for (const { type, intent } of others) {
      const body = service.body(type, sampleOf(intent))
      const { status, body: answer } = await thief.raw(body.path, body.text)
      expect([type, status]).not.toEqual([type, 200])
      if (answer['code'] === 7) denied.push(type)
    }
    expect(denied.length).toBeGreaterThan(15)
    // What users may do without a policy: votes, and their own credentials.
    const keys = { userId, apiKeys: [newKey()] }
    expect((await refusalOf(thief.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', keys))).slice(0, 2)).toEqual([403, 7])
    const removal = thief.submit('ACTIVITY_TYPE_DELETE_API_KEYS', { userId, apiKeyIds })
    expect((await refusalOf(removal)).slice(0, 2)).toEqual([403, 7])
    expect(await state()).toBe(before)
    await disable()
  })
})
