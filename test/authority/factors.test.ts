/** Which votes need further factors is told by the plan as the service then does. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { planWithForecast } from '../../src/analysis/index.ts'
import { createQueryClient } from '../../src/client/index.ts'
import { readActual } from '../../src/live/index.ts'
import { readPlan, renderForecast, renderPlanMarkdown, summarize, writePlan } from '../../src/plan/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { declare, desiredOf } from '../plan/organization.ts'
import { complete } from '../service/handlers/steps.ts'
import { startTestService, type TestService } from '../service/harness.ts'

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
