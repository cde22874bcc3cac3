/**
 * Sessions, attested stamps, profiles and MFA that must not be got around: each row is refused with its error, and of everything
 * that the service keeps nothing is changed by it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair, sha256 } from '../../src/crypto/index.ts'
import { encodeBase64Url, encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import { complete, NOBODY } from '../service/handlers/steps.ts'
import { type Answer, createTestClock, createTestUser, type TestUser } from '../service/harness.ts'
import { type Asked, attestedStamp, type Key, type LoginStage, startLoginStage } from '../service/login/stage.ts'
import { startIssuer, type TestIssuer } from '../service/oidc/issuer.ts'
import { type AbuseRow, abuseRows } from './abuse-table.ts'

const clock = createTestClock(Date.now())
const EMAIL = 'ada@example.com'
const newKey = () => generateP256KeyPair()
const login = (key: Key = newKey()) => ({ publicKey: key.publicKey })

let issuer: TestIssuer
let stage: LoginStage
let ada: TestUser
/** Tokens of read-only sessions: one that stands, and one of a user who was deleted. */
let tokens: Readonly<Record<'standing' | 'deleted', string>>
let keys: Readonly<Record<'evicted' | 'ended' | 'expired' | 'deleted' | 'narrow' | 'broken', Key>>
let profileOfOthers: string
let waiting: string
beforeAll(async () => {
  issuer = await startIssuer()
  stage = await startLoginStage({ clock, privateIssuers: [issuer.url] })
  const { root } = stage.service
  await complete(root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_OTP_EMAIL_AUTH' })
  ada = await createTestUser(stage.service, 'ada')
  await complete(root, 'ACTIVITY_TYPE_UPDATE_USER_EMAIL', { userId: ada.userId, userEmail: EMAIL })
  const bob = await createTestUser(stage.service, 'bob')
  await complete(root, 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER', {
    userId: bob.userId,
    userPhoneNumber: '+15551234567',
  })
  keys = {
    evicted: newKey(),
    ended: newKey(),
    expired: newKey(),
    deleted: newKey(),
    narrow: newKey(),
    broken: newKey(),
  }
  const [many, again, dead] = [
    await createTestUser(stage.service, 'many'),
    await createTestUser(stage.service, 'again'),
    await createTestUser(stage.service, 'dead'),
  ]
  for (const key of [keys.evicted, ...Array.from({ length: 10 }, newKey)])
    await complete(many.client, 'ACTIVITY_TYPE_STAMP_LOGIN', login(key))
  await complete(again.client, 'ACTIVITY_TYPE_STAMP_LOGIN', login(keys.ended))
  await complete(again.client, 'ACTIVITY_TYPE_STAMP_LOGIN', { ...login(), invalidateExisting: true })
  await complete(again.client, 'ACTIVITY_TYPE_STAMP_LOGIN', { ...login(keys.expired), expirationSeconds: '1' })
  await complete(dead.client, 'ACTIVITY_TYPE_STAMP_LOGIN', login(keys.deleted))
  const sessionOf = async (user: TestUser) =>
    (await complete(user.client, 'ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION', {})).session
  tokens = { standing: await sessionOf(ada), deleted: await sessionOf(dead) }
  await complete(root, 'ACTIVITY_TYPE_DELETE_USERS', { userIds: [dead.userId] })
  const profile = async (sessionProfileName: string, scope: string) =>
    (await complete(root, 'ACTIVITY_TYPE_CREATE_SESSION_PROFILE', { sessionProfileName, scope })).sessionProfileId
  const narrow = await profile('narrow', "activity.resource == 'WALLET'")
  await complete(ada.client, 'ACTIVITY_TYPE_STAMP_LOGIN', { ...login(keys.narrow), sessionProfileId: narrow })
  const broken = await profile('broken', "activity.params.wallet_id == 'x'")
  await complete(ada.client, 'ACTIVITY_TYPE_STAMP_LOGIN', { ...login(keys.broken), sessionProfileId: broken })
  const sub = newKey()
  const apiKeys = [{ apiKeyName: 'k', publicKey: sub.publicKey, curveType: 'API_KEY_CURVE_P256' }]
  const { subOrganizationId } = await complete(root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7', {
    subOrganizationName: 's',
    rootUsers: [{ userName: 'u', apiKeys, authenticators: [], oauthProviders: [] }],
    rootQuorumThreshold: 1,
  })
  const theirs = { sessionProfileName: 'theirs', scope: 'true' }
  profileOfOthers = (
    await complete(
      stage.service.client(sub.privateKey),
      'ACTIVITY_TYPE_CREATE_SESSION_PROFILE',
      theirs,
      subOrganizationId,
    )
  ).sessionProfileId
  const both = [ada.userId, bob.userId].map((id) => `approvers.any(user, user.id == '${id}')`).join(' && ')
  const policy = {
    policyName: 'both',
    effect: 'EFFECT_ALLOW',
    consensus: both,
    condition: "activity.resource == 'USER'",
  }
  await complete(root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
  const tag = { userTagName: 't', userIds: [] }
  waiting = (await bob.client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', tag)).fingerprint
  clock.advance(1000)
})
afterAll(async () => {
  await stage.close()
  await issuer.close()
})

const byKey = (key: Key): Asked => {
  const { client, body } = stage.service
  const { raw } = client(key.privateKey)
  const { organizationId } = stage.service
  return {
    submit: (type, parameters, overrides) => {
      const made = body(type, parameters, overrides)
      return raw(made.path, made.text)
    },
    query: (name, request) => raw(`/public/v1/query/${name}`, JSON.stringify({ organizationId, ...request })),
  }
}
const bySession = (session: string) => stage.by(() => ({ 'x-session': session }))
const submitLogin = (asked: Asked, more: object = {}) =>
  asked.submit('ACTIVITY_TYPE_STAMP_LOGIN', { ...login(), ...more })
const approve = (asked: Asked) => asked.submit('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint: waiting })
const reject = (asked: Asked) => asked.submit('ACTIVITY_TYPE_REJECT_ACTIVITY', { fingerprint: waiting })
const tokenBy = async (key: Key, more: Parameters<LoginStage['token']>[2] = {}) =>
  stage.token(EMAIL, key.publicKey, more)
const oidc = async (key: Key, claims: object = {}) => {
  const exp = Math.floor(clock() / 1000) + 600
  return stage.attested(await issuer.token({ nonce: encodeHex(sha256(key.publicKey)), exp, ...claims }), key, 'OIDC')
}

const rows: readonly AbuseRow<Answer>[] = [
  ['a key that was evicted asks', () => byKey(keys.evicted).query('whoami'), 401, 'could not find public key'],
  ['a key that was evicted submits', () => submitLogin(byKey(keys.evicted)), 401, 'could not find public key'],
  ['a key that another login has ended', () => submitLogin(byKey(keys.ended)), 401, 'could not find public key'],
  ['a key that has expired', () => submitLogin(byKey(keys.expired)), 401, 'expired api key'],
  ['a key of a user who was deleted', () => submitLogin(byKey(keys.deleted)), 401, 'could not find public key'],
  ['a session token as a stamp', () => bySession('a.b.c').query('whoami'), 401, 'could not verify read-only session'],
  ['a read-only session submits', () => submitLogin(bySession(tokens.standing)), 403, 'submits nothing'],
  ['a read-only session votes', () => approve(bySession(tokens.standing)), 403, 'submits nothing'],
  ['a read-only session of a deleted user', () => bySession(tokens.deleted).query('whoami'), 401, 'could not verify'],
  ['a read-only session, cut', () => bySession(tokens.standing.slice(1)).query('whoami'), 401, 'could not verify'],
  [
    'a read-only session elsewhere',
    () => bySession(tokens.standing).query('whoami', { organizationId: NOBODY }),
    404,
    'no organization',
  ],
  [
    'a read-only session beside a stamp',
    () => stage.by(() => ({ 'x-session': tokens.standing, 'x-stamp': 'e30' })).query('whoami'),
    400,
    'more than one stamp',
  ],
  ['outside of the scope', () => submitLogin(byKey(keys.narrow)), 403, 'sufficient permissions'],
  ['an approval outside of the scope', () => approve(byKey(keys.narrow)), 403, 'sufficient permissions'],
  ['a rejection outside of the scope', () => reject(byKey(keys.narrow)), 403, 'sufficient permissions'],
  ['a scope that errs', () => submitLogin(byKey(keys.broken)), 500, 'cannot be evaluated for ACTIVITY_TYPE'],
  [
    'an approval with a scope that errs',
    () => approve(byKey(keys.broken)),
    500,
    'cannot be evaluated for ACTIVITY_TYPE',
  ],
  [
    'a profile of another organization',
    () => loginOfAda({ sessionProfileId: profileOfOthers }),
    404,
    'session profile not found',
  ],
  ['a profile that is not there', () => loginOfAda({ sessionProfileId: NOBODY }), 404, 'session profile not found'],
  ['a lifetime below zero', () => loginOfAda({ expirationSeconds: '-1' }), 400, 'invalid api key expiration'],
  ['a lifetime of nothing', () => loginOfAda({ expirationSeconds: '0' }), 400, 'invalid api key expiration'],
  ['a lifetime that is no number', () => loginOfAda({ expirationSeconds: '1e9' }), 400, 'invalid api key expiration'],
  ['a key that is on no curve', () => loginOfAda({ publicKey: `02${'ff'.repeat(32)}` }), 400, 'public key'],
  ['a key that somebody has', () => loginOfAda({ publicKey: stage.service.root.publicKey }), 409, 'already exists'],
  [
    'another user is named',
    () =>
      ada.client.raw(
        '/public/v1/submit/create_read_write_session',
        stage.service.body('ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2', {
          targetPublicKey: newKey().publicKey,
          userId: stage.service.rootUserId,
        }).text,
      ),
    403,
    'not authorized',
  ],
  [
    'a token with another key',
    async () => submitLogin(stage.attested(await tokenBy(newKey()), newKey())),
    401,
    'not bound to its key',
  ],
  [
    'a token without a key',
    async () => submitLogin(stage.attested(await stage.token(EMAIL), newKey())),
    401,
    'not bound',
  ],
  [
    'a token of a contact that nobody has',
    async () => {
      const key = newKey()
      return submitLogin(stage.attested(await stage.token('nobody@example.com', key.publicKey), key))
    },
    401,
    'attested identity could not be found',
  ],
  [
    'a token of a way in that is off',
    async () => {
      const key = newKey()
      return submitLogin(
        stage.attested(await stage.token('+15551234567', key.publicKey, { type: 'OTP_TYPE_SMS' }), key),
      )
    },
    403,
    'authentication failed',
  ],
  [
    'a token of another organization',
    async () => {
      const key = newKey()
      return submitLogin(stage.attested(await tokenBy(key, { organizationId: NOBODY }), key))
    },
    400,
    'issued for another organization',
  ],
  [
    'a token that was changed',
    async () => {
      const key = newKey()
      const [head, , signature] = (await tokenBy(key)).split('.')
      const claims = encodeBase64Url(encodeUtf8(JSON.stringify({ contact: EMAIL, public_key: key.publicKey })))
      return submitLogin(stage.attested(`${head}.${claims}.${signature}`, key))
    },
    400,
    'not issued by this service',
  ],
  [
    'an attested stamp over another body',
    async () => {
      const key = newKey()
      const token = await tokenBy(key)
      return submitLogin(
        stage.by(() => ({ 'x-stamp-attested': attestedStamp('{}', token, key, 'VERIFICATION_TOKEN') })),
      )
    },
    401,
    'signature is not by its key',
  ],
  [
    'a verification token as an identity',
    async () => {
      const key = newKey()
      return submitLogin(stage.attested(await tokenBy(key), key, 'OIDC'))
    },
    401,
    'not bound to its key',
  ],
  [
    'a scheme that is none',
    async () => {
      const key = newKey()
      return submitLogin(stage.attested(await tokenBy(key), key, 'NOTHING' as 'OIDC'))
    },
    401,
    'could not extract attested stamp',
  ],
  ['an identity that nobody has', async () => submitLogin(await oidc(newKey())), 400, 'invalid OIDC token'],
  [
    'an identity bound to another key',
    async () => submitLogin(await oidc(newKey(), { nonce: encodeHex(sha256('x')) })),
    401,
    'not bound to its key',
  ],
  [
    'an identity without a nonce',
    async () => submitLogin(await oidc(newKey(), { nonce: undefined })),
    401,
    'not bound',
  ],
]

async function loginOfAda(more: object): Promise<Answer> {
  const { path, text } = stage.service.body('ACTIVITY_TYPE_STAMP_LOGIN', { ...login(), ...more })
  return ada.client.raw(path, text)
}

const abuse = abuseRows('sessions', () => stage.service.dataDir)

describe('abuse of sessions', () => {
  abuse.try(rows)
  abuse.record()

  test('abuse of sessions: of many who use one token at once, one does', async () => {
    const key = newKey()
    const asked = stage.attested(await tokenBy(key), key)
    const answers = await Promise.all(Array.from({ length: 8 }, () => submitLogin(asked)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})
