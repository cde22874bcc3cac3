import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { complete, refusalOf } from '../handlers/steps.ts'
import { createTestClock, type TestClient } from '../harness.ts'
import { makeMfaUser, methodOf, type Steps } from './mfa-user.ts'
import { activityOf, type LoginStage, startLoginStage } from './stage.ts'

const clock = createTestClock(Date.now())
const NEEDED = 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED'
const COMPLETED = 'ACTIVITY_STATUS_COMPLETED'
const WAITING = 'ACTIVITY_STATUS_CONSENSUS_NEEDED'
const [API_KEY, PASSKEY, SESSION, EMAIL] = [
  methodOf('API_KEY'),
  methodOf('PASSKEY'),
  methodOf('SESSION'),
  methodOf('EMAIL_OTP'),
]

let stage: LoginStage
beforeAll(async () => {
  stage = await startLoginStage({ clock })
  await complete(stage.service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_OTP_EMAIL_AUTH' })
})
afterAll(() => stage.close())

const makeUser = (steps: Steps, condition?: string) => makeMfaUser(stage, steps, condition)

let tags = 0
const makeTag = (client: TestClient) =>
  client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `tag-${tags++}`, userIds: [] })
const statusOf = async (activityId: string) =>
  (await stage.service.root.query('get_activity', { activityId })).activity.status

describe('MFA policies', () => {
  test('MFA policies: a submission waits for the other factor, and is carried out with it', async () => {
    const { userId, client, policyId, approveByPasskey } = await makeUser([[API_KEY], [PASSKEY, EMAIL]])
    const waiting = await makeTag(client)
    expect(waiting.status).toBe(NEEDED)
    const told = async () => (await client.query('get_mfa_status', { activityId: waiting.id })).mfaStatuses
    const { user } = await client.query('get_user', { userId })
    const { mfaPolicyId, requiredAuthenticationMethods: requiredMethods } = user.mfaPolicies[0]!
    expect(await told()).toEqual([
      { mfaPolicyId, userId, satisfied: false, satisfiedMethods: [API_KEY], requiredMethods },
    ])
    const { policyEvaluations } = await client.query('get_policy_evaluations', { activityId: waiting.id })
    const outcomes = policyEvaluations.map(
      ({ policyEvaluations: of }) => of.find((one) => one.policyId === policyId)!.outcome,
    )
    expect(outcomes).toEqual(['OUTCOME_REQUIRES_AUTHENTICATORS'])
    // The same factor once more is no other factor.
    expect((await client.approve(waiting.fingerprint)).status).toBe(NEEDED)
    expect((await approveByPasskey(waiting.fingerprint)).status).toBe(COMPLETED)
    expect(await told()).toEqual([
      { mfaPolicyId, userId, satisfied: true, satisfiedMethods: [API_KEY, PASSKEY], requiredMethods },
    ])
  })

  test('MFA policies: a contact is a factor, its token used up; a session is none of a passkey', async () => {
    const { userId, client } = await makeUser([[SESSION], [EMAIL]])
    const email = `${userId}@example.com`
    await complete(stage.service.root, 'ACTIVITY_TYPE_UPDATE_USER_EMAIL', { userId, userEmail: email })
    const key = generateP256KeyPair()
    // A login is a submission like any other: it needs what the policy says.
    const login = await client.submit('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: key.publicKey })
    expect(login.status).toBe(NEEDED)
    const holder = generateP256KeyPair()
    const asked = stage.attested(await stage.token(email, holder.publicKey), holder)
    const { fingerprint } = login
    expect(activityOf(await asked.submit('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint })).status).toBe(NEEDED)
    expect((await asked.query('whoami')).body).toMatchObject({ message: expect.stringContaining('it was used') })
  })

  test('MFA policies: by order the first that holds applies, an error does not, and root users are not exempt', async () => {
    const { client, add } = await makeUser([[PASSKEY]])
    await add(1, [[SESSION]], "activity.params.session_profile_id == 'x'")
    await add(2, [[API_KEY]], "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'")
    expect((await makeTag(client)).status).toBe(COMPLETED)
    const key = generateP256KeyPair()
    expect((await client.submit('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: key.publicKey })).status).toBe(NEEDED)
    const { root, rootUserId } = stage.service
    const { mfaPolicyId } = await complete(root, 'ACTIVITY_TYPE_CREATE_MFA_POLICY', {
      userId: rootUserId,
      mfaPolicyName: 'root',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
      requiredAuthenticationMethods: [{ any: [PASSKEY] }],
      order: 0,
    })
    expect((await makeTag(root)).status).toBe(NEEDED)
    const change = { userId: rootUserId, mfaPolicyId, condition: 'false' }
    await complete(root, 'ACTIVITY_TYPE_UPDATE_MFA_POLICY', change)
    expect((await makeTag(root)).status).toBe(COMPLETED)
    await complete(root, 'ACTIVITY_TYPE_DELETE_MFA_POLICY', { userId: rootUserId, mfaPolicyId })
    expect((await root.query('get_mfa_policies', { userId: rootUserId })).mfaPolicies).toEqual([])
  })

  test('MFA policies: an approver without the factor is told it, and everybody else sees the activity wait', async () => {
    const [ada, bob] = [await makeUser([]), await makeUser([[PASSKEY]], "activity.action == 'CREATE'")]
    const both = [ada.userId, bob.userId].map((id) => `approvers.any(user, user.id == '${id}')`).join(' && ')
    const policy = { policyName: 'two', effect: 'EFFECT_ALLOW', consensus: both, condition: "wallet.label != ''" }
    await complete(stage.service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      ...policy,
      condition: "activity.resource == 'WALLET'",
    })
    const submit = () => ada.client.submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: `w-${tags++}`, accounts: [] })
    const waiting = await submit()
    expect(waiting.status).toBe(WAITING)
    expect((await bob.client.approve(waiting.fingerprint)).status).toBe(NEEDED)
    expect(await statusOf(waiting.id)).toBe(WAITING)
    expect((await bob.approveByPasskey(waiting.fingerprint)).status).toBe(COMPLETED)
  })

  test('MFA policies: others may approve meanwhile, and nothing is carried out before the submitter is done', async () => {
    const [ada, bob] = [await makeUser([[API_KEY], [PASSKEY]]), await makeUser([])]
    const both = [ada.userId, bob.userId].map((id) => `approvers.any(user, user.id == '${id}')`).join(' && ')
    const policy = { policyName: 'both', effect: 'EFFECT_ALLOW', consensus: both }
    await complete(stage.service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      ...policy,
      condition: "activity.resource == 'PRIVATE_KEY'",
    })
    const tag = { privateKeyTagName: 'k', privateKeyIds: [] }
    const waiting = await ada.client.submit('ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', tag)
    expect(waiting.status).toBe(NEEDED)
    expect((await bob.client.approve(waiting.fingerprint)).status).toBe(NEEDED)
    expect((await stage.service.root.approve(waiting.fingerprint)).status).toBe(NEEDED)
    // What was given a day ago has lapsed.
    clock.advance(86_400_000)
    expect((await ada.approveByPasskey(waiting.fingerprint)).status).toBe(NEEDED)
    expect((await ada.client.approve(waiting.fingerprint)).status).not.toBe(NEEDED)
  })

  test('MFA policies: what is refused', async () => {
    const { root, rootUserId: userId } = stage.service
    const good = {
      mfaPolicyName: 'm',
      condition: 'true',
      requiredAuthenticationMethods: [{ any: [PASSKEY] }],
      order: 1,
    }
    for (const bad of [
      { condition: 'activity.nothing' },
      { requiredAuthenticationMethods: [] },
      { requiredAuthenticationMethods: [{ any: [] }] },
      { requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_NOTHING' }] }] },
    ]) {
      const refused = await refusalOf(root.submit('ACTIVITY_TYPE_CREATE_MFA_POLICY', { userId, ...good, ...bad }))
      expect([bad, ...refused.slice(0, 2)]).toEqual([bad, 400, 3])
    }
    const gone = { userId, mfaPolicyId: userId }
    expect((await refusalOf(root.submit('ACTIVITY_TYPE_DELETE_MFA_POLICY', gone))).slice(0, 2)).toEqual([404, 5])
  })
})
