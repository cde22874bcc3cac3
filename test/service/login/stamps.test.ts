import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair, sha256, verifyP256 } from '../../../src/crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../../../src/encoding/index.ts'
import { complete } from '../handlers/steps.ts'
import { createTestClock, createTestUser, type TestUser } from '../harness.ts'
import { startIssuer, type TestIssuer } from '../oidc/issuer.ts'
import { storedBytes } from '../rows.ts'
import { activityOf, type LoginStage, startLoginStage } from './stage.ts'

const clock = createTestClock(Date.now())
let issuer: TestIssuer
let stage: LoginStage
let ada: TestUser
beforeAll(async () => {
  issuer = await startIssuer()
  stage = await startLoginStage({ clock, privateIssuers: [issuer.url] })
  const { root } = stage.service
  for (const name of ['FEATURE_NAME_OTP_EMAIL_AUTH', 'FEATURE_NAME_SMS_AUTH'])
    await complete(root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name, value: '' })
  ada = await createTestUser(stage.service, 'ada')
  await complete(root, 'ACTIVITY_TYPE_UPDATE_USER_EMAIL', { userId: ada.userId, userEmail: 'Ada@Example.com' })
})
afterAll(async () => {
  await stage.close()
  await issuer.close()
})

describe('attested stamps', () => {
  test('attested stamps: a contact that was proved logs in once, and the vote can be verified by its reader', async () => {
    const [key, session] = [generateP256KeyPair(), generateP256KeyPair()]
    const token = await stage.token('ada@example.com', key.publicKey)
    const asked = stage.attested(token, key)
    expect((await asked.query('whoami')).body).toMatchObject({ userId: ada.userId })
    const activity = activityOf(await asked.submit('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: session.publicKey }))
    expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED')
    const [vote] = activity.votes
    expect(vote).toMatchObject({
      userId: ada.userId,
      scheme: 'SIGNATURE_SCHEME_TK_ATTESTED_P256',
      publicKey: key.publicKey,
    })
    const { publicKey, signature, message } = vote!
    expect(verifyP256({ publicKey, signatureHex: signature, body: encodeUtf8(message) })).toBe(true)
    expect(await stage.service.client(session.privateKey).query('whoami')).toMatchObject({ userId: ada.userId })
    for (const again of [
      asked.query('whoami'),
      asked.submit('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: key.publicKey }),
    ])
      expect((await again).body).toMatchObject({ message: expect.stringContaining('it was used') })
  })

  test('attested stamps: the id of the parent finds the sub-organization, whose user has proved the contact', async () => {
    const { root } = stage.service
    const make = async (rootUserName: string, userPhoneNumber: string) => {
      const users = [{ userName: rootUserName, userPhoneNumber, apiKeys: [], authenticators: [], oauthProviders: [] }]
      const made = { subOrganizationName: rootUserName, rootUsers: users, rootQuorumThreshold: 1 }
      return (await complete(root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', made)).subOrganizationId
    }
    const login = async () => {
      const key = generateP256KeyPair()
      const token = await stage.token('+4915112345678', key.publicKey, { type: 'OTP_TYPE_SMS' })
      return stage
        .attested(token, key)
        .submit('ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: generateP256KeyPair().publicKey })
    }
    const first = await make('first', '+4915112345678')
    expect(activityOf(await login()).organizationId).toBe(first)
    // Another one who only says that the number is theirs does not get in between.
    await make('second', '+4915112345678')
    expect(activityOf(await login()).organizationId).toBe(first)
    await make('third', '+4915112345678')
    expect(activityOf(await login()).organizationId).toBe(first)
  })

  test('attested stamps: an OIDC token that is bound to the key, and strangers make the service ask nobody', async () => {
    const key = generateP256KeyPair()
    const exp = Math.floor(clock() / 1000) + 600
    const nonce = encodeHex(sha256(key.publicKey))
    const token = await issuer.token({ nonce, exp })
    const asked = stage.attested(token, key, 'OIDC')
    expect((await asked.query('whoami')).body).toMatchObject({ message: 'invalid OIDC token' })
    expect(issuer.fetches()).toBe(0)
    const oauthProviders = [{ providerName: 'p', oidcToken: token }]
    const added = { userId: ada.userId, oauthProviders }
    await complete(stage.service.root, 'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS', added)
    expect((await asked.query('whoami')).body).toMatchObject({ userId: ada.userId })
    const other = stage.attested(token, generateP256KeyPair(), 'OIDC')
    expect((await other.query('whoami')).body).toMatchObject({
      message: expect.stringContaining('not bound to its key'),
    })
    const renamed = await issuer.token({ tknonce: nonce, exp })
    const session = generateP256KeyPair()
    const login = await stage.attested(renamed, key, 'OIDC').submit('ACTIVITY_TYPE_STAMP_LOGIN', session)
    expect(activityOf(login).votes[0]).toMatchObject({
      userId: ada.userId,
      scheme: 'SIGNATURE_SCHEME_TK_ATTESTED_P256',
    })
  })

  test('attested stamps: an approval stands as long as its user has the contact', async () => {
    const { root } = stage.service
    const bob = await createTestUser(stage.service, 'bob')
    const both = [ada.userId, bob.userId].map((id) => `approvers.any(user, user.id == '${id}')`).join(' && ')
    const policy = { policyName: 'both', effect: 'EFFECT_ALLOW', consensus: both }
    await complete(root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      ...policy,
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
    })
    const ask = async (userTagName: string) => {
      const key = generateP256KeyPair()
      const asked = stage.attested(await stage.token('ada@example.com', key.publicKey), key)
      return activityOf(await asked.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName, userIds: [] })).fingerprint
    }
    expect((await bob.client.approve(await ask('one'))).status).toBe('ACTIVITY_STATUS_COMPLETED')
    const fingerprint = await ask('two')
    await complete(root, 'ACTIVITY_TYPE_UPDATE_USER_EMAIL', { userId: ada.userId, userEmail: 'ada@elsewhere.example' })
    await expect(bob.client.approve(fingerprint)).resolves.toMatchObject({ status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' })
  })
})

describe('read-only sessions', () => {
  const make = async (user: TestUser) => user.client.submit('ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION', {})

  test('read-only sessions: they ask for an hour, and submit nothing', async () => {
    const activity = await make(ada)
    const { session, ...subject } = activity.result.createReadOnlySessionResult!
    expect(subject).toEqual({
      organizationId: stage.service.organizationId,
      organizationName: 'quorate',
      userId: ada.userId,
      username: 'ada',
      sessionExpiry: String(Math.floor(clock() / 1000) + 3600),
    })
    const asked = stage.by(() => ({ 'x-session': session }))
    expect((await asked.query('whoami')).body).toMatchObject({ userId: ada.userId })
    expect(await asked.submit('ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION', {})).toMatchObject({
      status: 403,
      body: { code: 7, turnkeyErrorCode: 'FORBIDDEN' },
    })
    clock.advance(3_600_000)
    expect((await asked.query('whoami')).status).toBe(401)
  })

  test('read-only sessions: the token is shown to its submitter alone, and kept nowhere in clear', async () => {
    const activity = await make(ada)
    const { session } = activity.result.createReadOnlySessionResult!
    const activityId = activity.id
    const shown = async (user: TestUser['client']) =>
      (await user.query('get_activity', { activityId })).activity.result.createReadOnlySessionResult!.session
    expect(await shown(ada.client)).toBe(session)
    expect(await shown(stage.service.root)).toBe('')
    expect((await storedBytes(stage.service.dataDir)).includes(session)).toBe(false)
  })

  test('read-only sessions: one of a deleted user is at an end', async () => {
    const user = await createTestUser(stage.service, 'gone')
    const { session } = (await make(user)).result.createReadOnlySessionResult!
    const asked = stage.by(() => ({ 'x-session': session }))
    expect((await asked.query('whoami')).status).toBe(200)
    await complete(stage.service.root, 'ACTIVITY_TYPE_DELETE_USERS', { userIds: [user.userId] })
    expect((await asked.query('whoami')).status).toBe(401)
  })
})
