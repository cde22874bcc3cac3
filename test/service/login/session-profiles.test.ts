import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { complete, invalid, refusalOf } from '../handlers/steps.ts'
import { createTestUser, startTestService, type TestClient, type TestService, type TestUser } from '../harness.ts'

let service: TestService
let ada: TestUser
beforeAll(async () => {
  service = await startTestService()
  ada = await createTestUser(service, 'ada')
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'ada may',
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.id == '${ada.userId}')`,
  })
})
afterAll(() => service.close())

async function login(scope: string, times: { profile?: string; login?: string } = {}) {
  const profile = {
    sessionProfileName: `profile ${scope}`,
    scope,
    ...(times.profile && { expirationSeconds: times.profile }),
  }
  const { sessionProfileId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_SESSION_PROFILE', profile)
  const key = generateP256KeyPair()
  const { session } = await complete(ada.client, 'ACTIVITY_TYPE_STAMP_LOGIN', {
    publicKey: key.publicKey,
    sessionProfileId,
    ...(times.login && { expirationSeconds: times.login }),
  })
  const [, payload] = session.split('.')
  expect(payload).toMatch(/^[A-Za-z0-9]+$/)
  const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString()) as Record<string, unknown>
  return { client: service.client(key.privateKey), key, claims, sessionProfileId, profile }
}

const tag = (userTagName: string) => ({ userTagName, userIds: [] })
const makeTag = (client: TestClient, name: string) => client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag(name))

describe('session profiles', () => {
  test('session profiles: a session does what is inside of its scope, asks everything, and says what it is', async () => {
    const scope = "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG' && 'größer > alles?~' != ''"
    const { client, claims, sessionProfileId, profile, key } = await login(scope)
    expect(Object.keys(claims)).toEqual([
      ...['exp', 'public_key', 'session_type', 'user_id', 'organization_id', 'session_profile_id', 'scope'],
    ])
    expect(claims).toMatchObject({
      session_type: profile.sessionProfileName,
      session_profile_id: sessionProfileId,
      scope,
    })
    const { userTagId } = await complete(client, 'ACTIVITY_TYPE_CREATE_USER_TAG', tag('inside'))
    for (const outside of [
      () => client.submit('ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [userTagId] }),
      () => client.submit('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: generateP256KeyPair().publicKey }),
      () => client.submit('ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION', {}),
    ]) {
      const refused = await outside().catch((error: unknown) => error)
      expect(refused).toMatchObject({
        status: 403,
        body: { code: 7, details: [{ message: 'No policies evaluated to outcome: Allow' }] },
      })
    }
    const { user } = await client.query('get_user', { userId: ada.userId })
    expect(user.apiKeys.find(({ credential }) => credential.publicKey === key.publicKey)!.credential).toEqual({
      publicKey: key.publicKey,
      type: 'CREDENTIAL_TYPE_LOGIN',
      sessionProfileId,
    })
    const { sessionProfiles } = await client.query('get_session_profiles')
    const { sessionProfile } = await client.query('get_session_profile', { sessionProfileId })
    expect(sessionProfiles).toContainEqual(sessionProfile)
    expect(sessionProfile).toMatchObject(profile)
  })

  test('session profiles: votes are judged by what they are about, and a scope that cannot be evaluated is no permission', async () => {
    const bob = await createTestUser(service, 'bob')
    const both = [ada.userId, bob.userId].map((id) => `approvers.any(user, user.id == '${id}')`).join(' && ')
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'both',
      effect: 'EFFECT_ALLOW',
      consensus: both,
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
    })
    const narrow = (await login("activity.resource == 'WALLET'")).client
    const wide = (await login("activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'")).client
    const { client: broken, sessionProfileId } = await login("activity.params.wallet_id == 'x'")
    const { fingerprint } = await makeTag(bob.client, 'asked')
    expect((await refusalOf(narrow.approve(fingerprint))).slice(0, 2)).toEqual([403, 7])
    expect((await refusalOf(narrow.reject(fingerprint))).slice(0, 2)).toEqual([403, 7])
    const of = `the scope of session profile ${sessionProfileId} cannot be evaluated`
    const refusal = [500, 13, `${of} for ACTIVITY_TYPE_CREATE_USER_TAG: nothing was carried out`, 'INTERNAL']
    expect(await refusalOf(broken.approve(fingerprint))).toEqual(refusal)
    expect(await refusalOf(makeTag(broken, 'x'))).toEqual(refusal)
    expect((await wide.approve(fingerprint)).status).toBe('ACTIVITY_STATUS_COMPLETED')
  })

  test.each([
    [{}, 900],
    [{ profile: '60' }, 60],
    [{ login: '60' }, 60],
    [{ profile: '60', login: '3600' }, 60],
    [{ profile: '3600', login: '60' }, 60],
  ])('session profiles: with %o a session lasts %i seconds', async (times, seconds) => {
    const { client } = await login(`true || '${JSON.stringify(times)}' == ''`, times)
    const { user } = await client.query('get_user', { userId: ada.userId })
    expect(user.apiKeys.at(-1)!.expirationSeconds).toBe(String(seconds))
  })

  test('session profiles: what is refused', async () => {
    const make = (profile: object) =>
      refusalOf(
        service.root.submit('ACTIVITY_TYPE_CREATE_SESSION_PROFILE', {
          sessionProfileName: 'n',
          scope: 'true',
          ...profile,
        }),
      )
    expect((await make({ scope: 'activity.nothing' })).slice(0, 2)).toEqual([400, 3])
    expect((await make({ scope: '' })).slice(0, 2)).toEqual([400, 3])
    expect((await make({ sessionProfileName: ' ' })).slice(0, 2)).toEqual([400, 3])
    expect(await make({ expirationSeconds: '-1' })).toEqual(invalid('invalid api key expiration'))
    await login('1 == 1')
    expect((await make({ sessionProfileName: 'profile 1 == 1' })).slice(0, 2)).toEqual([409, 6])
  })

  test('session profiles: an id in other letters names no profile, so that a policy that names it decides', async () => {
    const { sessionProfileId } = await login('true')
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'not with this profile',
      effect: 'EFFECT_DENY',
      condition: `activity.kind == 'STAMP_LOGIN' && activity.params.session_profile_id == '${sessionProfileId}'`,
    })
    const attempt = (id: string) =>
      refusalOf(
        ada.client.submit('ACTIVITY_TYPE_STAMP_LOGIN', {
          publicKey: generateP256KeyPair().publicKey,
          sessionProfileId: id,
        }),
      )
    expect((await attempt(sessionProfileId)).slice(0, 2)).toEqual([403, 7])
    expect((await attempt(sessionProfileId.toUpperCase())).slice(0, 2)).toEqual([404, 5])
  })
})
