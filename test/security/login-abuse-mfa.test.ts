/**
 * Steps of an MFA policy that must not be got around. What is no factor at all is refused, and of everything that is kept nothing
 * is changed by it. What is a factor of the wrong sort is a vote that does not count: the activity goes on waiting, and beside
 * its votes nothing is changed.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair, sha256 } from '../../src/crypto/index.ts'
import { encodeHex } from '../../src/encoding/index.ts'
import type { Wire } from '../../src/protocol/index.ts'
import { complete } from '../service/handlers/steps.ts'
import { type Answer, createTestClock, type TestClient } from '../service/harness.ts'
import { type MfaUser, makeMfaUser, methodOf } from '../service/login/mfa-user.ts'
import { type Asked, type Key, type LoginStage, startLoginStage } from '../service/login/stage.ts'
import { startIssuer, type TestIssuer } from '../service/oidc/issuer.ts'
import { createPasskey } from '../service/passkey.ts'
import { abuseRows } from './abuse-table.ts'
import { stateDigest } from './state-digest.ts'

const clock = createTestClock(Date.now())
const NEEDED = 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED'
const APPROVE = 'ACTIVITY_TYPE_APPROVE_ACTIVITY'
/** What a vote that does not count writes: itself, and of a token that it was used and has proved a contact. */
const VOTES = [
  'activities',
  'votes',
  'votes_of_activities',
  'policy_evaluations',
  'policy_sets',
  'used_verification_tokens',
  'verified_contacts',
]
const PHONE = '+15551234567'
const [API_KEY, PASSKEY, EMAIL] = [methodOf('API_KEY'), methodOf('PASSKEY'), methodOf('EMAIL_OTP')]

let issuer: TestIssuer
let stage: LoginStage
/** Each needs its key and the second step that its name says. */
let users: Readonly<Record<'passkey' | 'email' | 'session' | 'profile' | 'oneKey', MfaUser>>
let bob: MfaUser
let stranger: { readonly passkey: ReturnType<typeof createPasskey>; readonly organizationId: string }
let narrow: string
const email = (user: MfaUser) => `${user.userId}@example.com`

beforeAll(async () => {
  issuer = await startIssuer()
  stage = await startLoginStage({ clock, privateIssuers: [issuer.url] })
  const { root } = stage.service
  for (const name of ['FEATURE_NAME_OTP_EMAIL_AUTH', 'FEATURE_NAME_SMS_AUTH'])
    await complete(root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name })
  const profile = { sessionProfileName: 'p', scope: 'true' }
  narrow = (await complete(root, 'ACTIVITY_TYPE_CREATE_SESSION_PROFILE', profile)).sessionProfileId
  const make = (...steps: Parameters<typeof makeMfaUser>[1]) => makeMfaUser(stage, steps)
  users = {
    passkey: await make([API_KEY], [PASSKEY]),
    email: await make([API_KEY], [EMAIL]),
    session: await make([PASSKEY], [methodOf('SESSION')]),
    profile: await make([API_KEY], [methodOf('SESSION', narrow)]),
    oneKey: await make([methodOf('API_KEY', 'another')]),
  }
  bob = await make()
  await complete(root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'own MFA',
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.id == '${users.passkey.userId}')`,
    condition: "activity.resource == 'MFA_POLICY'",
  })
  for (const user of [...Object.values(users), bob])
    await complete(root, 'ACTIVITY_TYPE_UPDATE_USER_EMAIL', { userId: user.userId, userEmail: email(user) })
  const { userId } = users.email
  await complete(root, 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER', { userId, userPhoneNumber: PHONE })
  const passkey = createPasskey()
  const { subOrganizationId: organizationId } = await complete(root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', {
    subOrganizationName: 's',
    rootUsers: [{ userName: 'u', apiKeys: [], authenticators: [passkey.register()], oauthProviders: [] }],
    rootQuorumThreshold: 1,
  })
  stranger = { passkey, organizationId }
})
afterAll(async () => {
  await stage.close()
  await issuer.close()
})

let tags = 0
const makeTag = (client: TestClient) =>
  client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `tag-${tags++}`, userIds: [] })
const approve =
  (asked: Asked, { fingerprint }: Wire.Activity) =>
  () =>
    asked.submit(APPROVE, { fingerprint })
const newKey = () => generateP256KeyPair()
const byToken = async (contact: string, more: Parameters<LoginStage['token']>[2] = {}, key: Key = newKey()) =>
  stage.attested(await stage.token(contact, key.publicKey, more), key)
const byKey = (key: { readonly privateKey: string }): Asked =>
  ({
    submit: (type, parameters, overrides) => {
      const { path, text } = stage.service.body(type, parameters, overrides)
      return stage.service.client(key.privateKey).raw(path, text)
    },
  }) as Asked
/** A session of a user, by the key, stamped by the passkey, the key alone being too little. */
async function sessionOf(user: MfaUser, parameters: object = {}): Promise<Key> {
  const key = newKey()
  const { path, text } = stage.service.body('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: key.publicKey, ...parameters })
  const { body } = await user.client.raw(path, text)
  const { fingerprint, status } = body['activity'] as unknown as Wire.Activity
  // The steps hold for a login as well: root lifts them for it.
  expect(status).toBe(NEEDED)
  const { mfaPolicies } = await stage.service.root.query('get_mfa_policies', { userId: user.userId })
  const change = (condition: string) =>
    complete(stage.service.root, 'ACTIVITY_TYPE_UPDATE_MFA_POLICY', {
      userId: user.userId,
      mfaPolicyId: mfaPolicies[0]!.mfaPolicyId,
      condition,
    })
  await change('false')
  expect((await user.client.approve(fingerprint)).status).toBe('ACTIVITY_STATUS_COMPLETED')
  await change('true')
  return key
}

/** Makes ready, and gives what sends. */
type Attempt = (waiting: Wire.Activity) => (() => Promise<Answer>) | Promise<() => Promise<Answer>>
type Refused = readonly [name: string, of: keyof typeof users, attempt: Attempt, status: number, says: string]

const refused: readonly Refused[] = [
  [
    'a passkey of nobody',
    'passkey',
    (waiting) =>
      approve(
        stage.by((text) => ({ 'x-stamp-webauthn': createPasskey().stamp(text) })),
        waiting,
      ),
    401,
    '',
  ],
  [
    'a passkey of a sub-organization, for the parent',
    'passkey',
    (waiting) =>
      approve(
        stage.by((text) => ({ 'x-stamp-webauthn': stranger.passkey.stamp(text) })),
        waiting,
      ),
    400,
    'organization mismatch',
  ],
  [
    'a passkey of another organization, in its own',
    'passkey',
    ({ fingerprint }) =>
      () =>
        stage
          .by((text) => ({ 'x-stamp-webauthn': stranger.passkey.stamp(text) }))
          .submit(APPROVE, { fingerprint }, { organizationId: stranger.organizationId }),
    404,
    '',
  ],
  [
    'an assertion of the approval of another activity',
    'passkey',
    async (waiting) => {
      const other = await makeTag(users.passkey.client)
      const { text } = stage.service.body(APPROVE, { fingerprint: other.fingerprint })
      return approve(
        stage.by(() => ({ 'x-stamp-webauthn': users.passkey.passkey.stamp(text) })),
        waiting,
      )
    },
    401,
    '',
  ],
  [
    'a token that was used for another activity',
    'email',
    async (waiting) => {
      const asked = await byToken(email(users.email))
      const other = await makeTag(users.email.client)
      expect((await approve(asked, other)()).body).toMatchObject({ activity: { status: 'ACTIVITY_STATUS_COMPLETED' } })
      return approve(asked, waiting)
    },
    400,
    'it was used',
  ],
  [
    'a token that has expired',
    'email',
    async (waiting) => {
      const asked = await byToken(email(users.email))
      clock.advance(3_600_001)
      return approve(asked, waiting)
    },
    400,
    'expired',
  ],
  [
    'a token of another organization',
    'email',
    async (waiting) => approve(await byToken(email(users.email), { organizationId: stranger.organizationId }), waiting),
    400,
    'issued for another organization',
  ],
  [
    'a token that is bound to another key',
    'email',
    async (waiting) => {
      const [bound, mine] = [newKey(), newKey()]
      return approve(stage.attested(await stage.token(email(users.email), bound.publicKey), mine), waiting)
    },
    401,
    'not bound to its key',
  ],
  [
    'an address that the user has no longer',
    'email',
    async (waiting) => approve(await byToken('former@example.com'), waiting),
    401,
    'could not be found',
  ],
  [
    'an identity that is registered with nobody',
    'passkey',
    async (waiting) => {
      const key = newKey()
      const claims = { nonce: encodeHex(sha256(key.publicKey)), exp: Math.floor(clock() / 1000) + 600 }
      return approve(stage.attested(await issuer.token(claims), key, 'OIDC'), waiting)
    },
    400,
    'invalid OIDC token',
  ],
  [
    'a read-only session',
    'session',
    async (waiting) => {
      const { session } = await complete(bob.client, 'ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION', {})
      return approve(
        stage.by(() => ({ 'x-session': session })),
        waiting,
      )
    },
    403,
    'submits nothing',
  ],
  [
    'a session that has ended',
    'profile',
    async (waiting) => {
      const key = await sessionOf(users.profile, { sessionProfileId: narrow, expirationSeconds: '1' })
      clock.advance(1_001)
      return approve(byKey(key), waiting)
    },
    401,
    'expired api key',
  ],
]

type Held = readonly [name: string, of: keyof typeof users, attempt: Attempt]

const held: readonly Held[] = [
  ['the same key once more', 'passkey', (waiting) => approve(byKey(users.passkey), waiting)],
  ['a code for a passkey', 'passkey', async (waiting) => approve(await byToken(email(users.passkey)), waiting)],
  [
    'a text message for an e-mail',
    'email',
    async (waiting) => approve(await byToken(PHONE, { type: 'OTP_TYPE_SMS' }), waiting),
  ],
  ['a passkey for an e-mail', 'email', (waiting) => approve(users.email.byPasskey, waiting)],
  ['a passkey of another user', 'passkey', (waiting) => approve(bob.byPasskey, waiting)],
  ['a code of another user', 'email', async (waiting) => approve(await byToken(email(bob)), waiting)],
  ['another key than the one that is asked for', 'oneKey', (waiting) => approve(users.oneKey.byPasskey, waiting)],
  ['a session of no profile', 'profile', async (waiting) => approve(byKey(await sessionOf(users.profile)), waiting)],
  [
    'the approval of another activity, sent again',
    'passkey',
    async () => {
      const other = await makeTag(users.passkey.client)
      const { path, text } = stage.service.body(APPROVE, { fingerprint: other.fingerprint })
      const headers = { 'x-stamp': '', 'x-stamp-webauthn': users.passkey.passkey.stamp(text) }
      await stage.service.root.raw(path, text, headers)
      return () => stage.service.root.raw(path, text, headers)
    },
  ],
]

const downgrades: readonly (readonly [name: string, type: Parameters<TestClient['submit']>[0], of: object])[] = [
  ['deleting the policy', 'ACTIVITY_TYPE_DELETE_MFA_POLICY', {}],
  ['a condition that never holds', 'ACTIVITY_TYPE_UPDATE_MFA_POLICY', { condition: 'false' }],
  [
    'a step that the key satisfies',
    'ACTIVITY_TYPE_UPDATE_MFA_POLICY',
    { requiredAuthenticationMethods: [{ any: [API_KEY] }] },
  ],
  [
    'a policy that comes before it',
    'ACTIVITY_TYPE_CREATE_MFA_POLICY',
    { mfaPolicyName: 'first', condition: 'true', requiredAuthenticationMethods: [{ any: [API_KEY] }], order: 0 },
  ],
]

const statusOf = async ({ id }: Wire.Activity) =>
  (await stage.service.root.query('get_activity', { activityId: id })).activity.status
const digest = (without: readonly string[] = []) => stateDigest(stage.service.dataDir, without)

const abuse = abuseRows('MFA', () => stage.service.dataDir)

describe('abuse of MFA', () => {
  test.each(refused)('abuse of MFA: refused: %s', async (name, of, attempt, status, says) => {
    const waiting = await makeTag(users[of].client)
    expect(waiting.status).toBe(NEEDED)
    const send = await attempt(waiting)
    const answer = await abuse.refuse(name, send)
    expect([answer.status, answer.body['message']]).toEqual([status, expect.stringContaining(says)])
    expect(await statusOf(waiting)).toBe(NEEDED)
  })
  abuse.record()

  test.each(held)('abuse of MFA: does not count: %s', async (_, of, attempt) => {
    const waiting = await makeTag(users[of].client)
    expect(waiting.status).toBe(NEEDED)
    const send = await attempt(waiting)
    const before = digest(VOTES)
    const answer = await send()
    expect([answer.status, await statusOf(waiting)]).toEqual([200, NEEDED])
    expect(digest(VOTES)).toBe(before)
  })

  test.each(downgrades)('abuse of MFA: not lifted by one factor: %s', async (_, type, change) => {
    const { userId, client } = users.passkey
    const { mfaPolicies } = await client.query('get_mfa_policies', { userId })
    const before = digest(VOTES)
    const { mfaPolicyId } = mfaPolicies[0]!
    const of = type === 'ACTIVITY_TYPE_CREATE_MFA_POLICY' ? { userId } : { userId, mfaPolicyId }
    expect((await client.submit(type, { ...of, ...change })).status).toBe(NEEDED)
    expect(digest(VOTES)).toBe(before)
  })
})
