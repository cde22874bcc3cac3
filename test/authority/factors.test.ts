/** Which votes need further factors is told by the plan as the service then does. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { planWithForecast } from '../../src/analysis/index.ts'
import { type Factor, missingMethods, openSteps, satisfiedMethods, votesOn } from '../../src/authority/index.ts'
import { createStyle } from '../../src/cli/io.ts'
import { renderActivity, renderActivityLine, viewActivity } from '../../src/cli/views/activity.ts'
import { forecastLine } from '../../src/cli/views/explanation.ts'
import { createQueryClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { readActual } from '../../src/live/index.ts'
import { readFactors } from '../../src/operations/index.ts'
import { readPlan, renderForecast, renderPlanMarkdown, summarize, writePlan } from '../../src/plan/index.ts'
import { worldOfActual } from '../../src/scenarios/index.ts'
import { forecastSend } from '../../src/sending/forecast.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { declare, desiredOf } from '../plan/organization.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const TAGS = "activity.kind == 'CREATE_USER_TAG'"
const step = (...types: string[]) => ({ any: types.map((type) => ({ type: `AUTHENTICATION_TYPE_${type}` })) })
const policies = [
  { condition: "activity.resource == 'WALLET'", steps: [step('PASSKEY')], said: 'completes at once' },
  // It cannot be evaluated, so it does not apply.
  { condition: "wallet.label == 'w'", steps: [step('PASSKEY')], said: 'completes at once' },
  { condition: TAGS, steps: [step('PASSKEY', 'API_KEY')], said: 'completes at once' },
  {
    condition: TAGS,
    steps: [step('API_KEY'), step('PASSKEY', 'EMAIL_OTP'), step('SESSION')],
    said: 'waits for another factor of root (passkey or email-otp, and session)',
  },
]

test('MFA: the plan says which step is missing, and the service waits for it', async () => {
  const { organizationId, rootUserId: userId, root } = service
  const stamper = createApiKeyStamper({ privateKey: new Secret(root.privateKey) })
  const client = createQueryClient({ baseUrl: service.url, organizationId, stamper })
  for (const [index, { condition, steps, said }] of policies.entries()) {
    // Each comes before those that were made before it.
    const policy = { mfaPolicyName: `p${index}`, condition, requiredAuthenticationMethods: steps, order: 9 - index }
    await complete(root, 'ACTIVITY_TYPE_CREATE_MFA_POLICY', { userId, ...policy })
    const { plan } = planWithForecast({
      desired: { ...desiredOf([declare('tag.probe')]), organizationId },
      actual: await readActual(client),
      lock: {},
      creators: {},
      allow: [],
      baseUrl: service.url,
      now: new Date().toISOString(),
    })
    const [batch] = plan.batches
    expect(renderForecast(batch!.forecast!).replace(plan.actor.userName, 'root')).toBe(said)
    const activity = await root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `t${index}`, userIds: [] })
    const waits = activity.status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED'
    expect(batch!.forecast!.outcome === 'waits').toBe(waits)
    if (!waits) continue
    expect(readPlan(writePlan(plan))).toEqual(plan)
    expect(summarize(plan)).toContain(`1 needs another factor of ${plan.actor.userName}`)
    expect(renderPlanMarkdown(plan)).toContain('passkey or email')
  }
})

/** A user with a key who may make tags, and what it takes besides. */
async function withPolicy(steps: readonly object[], condition = 'true') {
  const { userId, client, privateKey } = await createTestUser(service, `user-${crypto.randomUUID()}`)
  const consensus = `approvers.any(user, user.id == '${userId}')`
  const policy = { policyName: userId, effect: 'EFFECT_ALLOW', consensus, condition: "activity.resource != 'WALLET'" }
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
  const mfa = { userId, mfaPolicyName: 'm', condition, requiredAuthenticationMethods: steps, order: 1 }
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_MFA_POLICY', mfa)
  const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey) })
  const { organizationId } = service
  return { userId, client, queries: createQueryClient({ baseUrl: service.url, organizationId, stamper }) }
}

test('MFA: approvers see whose approval does not count yet, and what is missing to it', async () => {
  const { userId, client, queries } = await withPolicy([step('API_KEY'), step('PASSKEY', 'EMAIL_OTP')])
  const submitted = await client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'seen', userIds: [] })
  const { activity } = await queries.query('get_activity', { activityId: submitted.id })
  const actual = await readActual(queries)
  const mfa = await readFactors(queries, activity, actual)
  const name = activity.votes[0]!.user.userName
  expect(votesOn(activity, Date.now(), mfa)).toMatchObject({ approvals: [], held: [{ userId }], lapsed: [] })
  const seen = viewActivity(activity, Date.now(), actual, mfa)
  expect(seen.approvedBy).toEqual([])
  expect(seen.missingFactors).toEqual([{ of: name, steps: [['passkey', 'email-otp']] }])
  const said = `needs another factor of ${name} (passkey or email-otp): ${name} approves it once more, by that`
  expect(renderActivityLine(seen, createStyle(false), Date.now())).toContain(said)
  expect(renderActivity(seen, createStyle(false), Date.now())).toContain(said.replace('needs', 'needs     '))
  // The key that was one factor is gone: then its step is open again.
  const publicKey = generateP256KeyPair().publicKey
  const another = [{ apiKeyName: 'another', publicKey, curveType: 'API_KEY_CURVE_P256' }]
  const { apiKeys } = await service.root.query('get_api_keys', { userId })
  const gone = { userId, apiKeyIds: apiKeys.map(({ apiKeyId }) => apiKeyId) }
  expect((await readFactorsOf(activity.id))[0]!.satisfiedMethods).toHaveLength(1)
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', { userId, apiKeys: another })
  await complete(service.root, 'ACTIVITY_TYPE_DELETE_API_KEYS', gone)
  expect((await readFactorsOf(activity.id))[0]!.satisfiedMethods).toEqual([])
})

const readFactorsOf = async (activityId: string) =>
  (await service.root.query('get_mfa_status', { activityId })).mfaStatuses

test('MFA: what a send waits for is said before it is asked for', async () => {
  const { queries } = await withPolicy(
    [step('PASSKEY'), step('SESSION')],
    "activity.resource == 'WALLET' || eth.tx.value > 0",
  )
  const actual = await readActual(queries)
  const now = Date.now()
  const [from, to] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
  const order = (value: string) => ({
    reference: 'r',
    organization: { id: service.organizationId, name: 'o', baseUrl: '' },
    type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION' as const,
    parameters: { from, to, caip2: 'eip155:1', value },
    from,
    to,
    amount: value,
    orderedAt: new Date(now).toISOString(),
  })
  const directory = { addressBook: {}, assets: {}, wallets: [], privateKeys: [] }
  const world = worldOfActual(actual, now)
  const told = (value: string) => forecastLine(forecastSend(order(value), { actual, world, directory, now }))
  expect(told('1')).toMatch(/; needs another factor of user-\S+ \(passkey, and session\)$/)
  expect(told('0')).not.toContain('factor')
})

test('MFA: the steps that are open are the same by the factors and by what the service tells of them', () => {
  const types = fc.constantFrom(
    'AUTHENTICATION_TYPE_PASSKEY',
    'AUTHENTICATION_TYPE_API_KEY',
    'AUTHENTICATION_TYPE_OAUTH',
  )
  const method = fc.record({ type: types, id: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }) })
  const steps = fc.array(fc.array(method, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
  const factors: fc.Arbitrary<Factor[]> = fc.array(fc.record({ type: types, ids: fc.subarray(['a', 'b']) }), {
    maxLength: 3,
  })
  fc.assert(
    fc.property(steps, factors, (asked, given) => {
      const policy = { id: '', condition: 'true', order: 0, steps: asked }
      const told = missingMethods('u', asked, satisfiedMethods(policy, given))
      const open = missingMethods('u', openSteps(policy, given), [])
      expect(told).toEqual(open)
    }),
  )
})
