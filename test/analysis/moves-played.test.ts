/** Moves that no generated organization makes are told as they are, and played in a service to a signature. */
import { decryptCredentialBundle } from '@turnkey/crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { indirectPowersOf } from '../../src/analysis/index.ts'
import { createQueryClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { readActual } from '../../src/live/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { complete, newKey } from '../service/handlers/steps.ts'
import {
  createTestUser,
  startTestService,
  type TestClient,
  type TestService,
  type TestUser,
} from '../service/harness.ts'
import { nonceOf } from '../service/oauth/stage.ts'
import { startIssuer, type TestIssuer } from '../service/oidc/issuer.ts'
import { codeIn, messageOf } from '../service/one-time-passcodes/outbox.ts'
import { createPasskey } from '../service/passkey.ts'

const is = ({ userId }: TestUser) => `approvers.any(u, u.id == '${userId}')`

describe('moves played', () => {
  let service: TestService
  let issuer: TestIssuer
  let bob: TestUser
  let wallet: { readonly walletId: string; readonly addresses: readonly string[] }
  beforeAll(async () => {
    issuer = await startIssuer()
    service = await startTestService({ privateIssuers: [issuer.url] })
    bob = await createTestUser(service, 'bob')
    const path = { path: "m/44'/60'/0'/0/0", pathFormat: 'PATH_FORMAT_BIP32' }
    const account = { ...path, curve: 'CURVE_SECP256K1', addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }
    wallet = await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'cold', accounts: [account] })
  })
  afterAll(async () => {
    await service.close()
    await issuer.close()
  })

  const allow = (name: string, consensus: string, condition: string) =>
    write({ policyName: name, effect: 'EFFECT_ALLOW', consensus, condition })
  const write = async (
    one: Readonly<Record<'policyName' | 'effect' | 'condition', string>> & Readonly<Record<string, string>>,
  ) => {
    const policy = { ...one, notes: '' }
    const { policyId } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
    return policyId
  }
  /** What is told of signing: who gets there by which activities, whether perhaps; and limits that were met. */
  const told = async () => {
    const stamper = createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) })
    const client = createQueryClient({ baseUrl: service.url, organizationId: service.organizationId, stamper })
    const actual = await readActual(client, { sparing: true, mentioned: new Set(['wallet'] as const) })
    const { rows, limits } = indirectPowersOf(actual, { nowMs: Date.now(), powers: ['sign'] })
    const ways = rows
      .filter(({ activities }) => activities.some((one) => one.startsWith('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2')))
      .flatMap(({ paths }) => paths)
      .map(({ people, steps, isConditional }) => [
        people.join(' '),
        steps.slice(0, -1).map(({ activity }) => activity.replace('ACTIVITY_TYPE_', '')),
        isConditional,
      ])
    return { ways, limits }
  }
  const payload = () => ({
    signWith: wallet.addresses[0]!,
    payload: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex'),
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_NO_OP',
  })
  const statusOf = async (client: TestClient, type: ActivityType, parameters: object) => {
    const { path, text } = service.body(type, parameters)
    const { body } = await client.raw(path, text)
    return (body['activity'] as { status?: string } | undefined)?.status
  }
  const signs = (client: TestClient) => statusOf(client, 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', payload())
  const COMPLETED = 'ACTIVITY_STATUS_COMPLETED'

  test('moves played: a login of one’s own gives a key of the sort that a policy asks for', async () => {
    const byLogin = `${is(bob)} && credentials.any(c, c.type == 'CREDENTIAL_TYPE_LOGIN')`
    const policyId = await allow('by login', byLogin, "activity.action == 'SIGN'")
    expect(await told()).toEqual({ ways: [['bob', ['STAMP_LOGIN'], false]], limits: [] })

    expect(await signs(bob.client)).not.toBe(COMPLETED)
    const key = generateP256KeyPair()
    await complete(bob.client, 'ACTIVITY_TYPE_STAMP_LOGIN', { publicKey: key.publicKey })
    expect(await signs(service.client(key.privateKey))).toBe(COMPLETED)
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICY', { policyId })
  })

  test('moves played: a passkey of one’s own, and no key, which a DENY forbids; at times a DENY forbids the passkey too', async () => {
    const byPasskey = `${is(bob)} && credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR')`
    const forbids = (activity: string) => ({
      ...{ policyName: `no ${activity}`, effect: 'EFFECT_DENY' },
      condition: `activity.type == 'ACTIVITY_TYPE_${activity}'`,
    })
    const policyIds = [
      await allow('by passkey', byPasskey, "activity.action == 'SIGN'"),
      await write(forbids('CREATE_API_KEYS_V2')),
    ]
    expect((await told()).ways).toEqual([['bob', ['CREATE_AUTHENTICATORS_V2'], false]])
    const feature = { name: 'FEATURE_NAME_POLICY_TIME' }
    await complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', feature)
    const time = "time.now >= Timestamp('2100-01-01T00:00:00Z')"
    policyIds.push(await write({ ...forbids('CREATE_AUTHENTICATORS_V2'), time }))
    expect((await told()).ways).toEqual([['bob', ['CREATE_AUTHENTICATORS_V2'], true]])

    const key = newKey({ publicKey: generateP256KeyPair().publicKey })
    const keys = { userId: bob.userId, apiKeys: [key] }
    expect(await statusOf(bob.client, 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', keys)).not.toBe(COMPLETED)
    const passkey = createPasskey()
    const registered = { userId: bob.userId, authenticators: [passkey.register()] }
    await complete(bob.client, 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', registered)
    const raw: TestClient['raw'] = (path, text) =>
      bob.client.raw(path, text, { 'x-stamp': '', 'x-stamp-webauthn': passkey.stamp(text) })
    expect(await signs({ ...bob.client, raw })).toBe(COMPLETED)
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICIES', { policyIds })
  })

  test('moves played: a provider of one’s own gives a login, whose key is of the sort that a policy asks for', async () => {
    const byProvider = `${is(bob)} && credentials.any(c, c.type == 'CREDENTIAL_TYPE_OAUTH_KEY_P256')`
    const policyId = await allow('by provider', byProvider, "activity.action == 'SIGN'")
    expect(await told()).toEqual({ ways: [['bob', ['CREATE_OAUTH_PROVIDERS_V2'], false]], limits: [] })

    expect(await signs(bob.client)).not.toBe(COMPLETED)
    const target = generateP256KeyPair()
    const token = (claims: object) => {
      const iat = Math.floor(Date.now() / 1000)
      return issuer.token({ sub: 'bob', iat, nbf: iat, exp: iat + 3600, ...claims })
    }
    const oauthProviders = [{ providerName: 'own', oidcToken: await token({}) }]
    await complete(bob.client, 'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS', { userId: bob.userId, oauthProviders })
    const login = { oidcToken: await token({ nonce: nonceOf(target.publicKey) }), targetPublicKey: target.publicKey }
    // The caller that may submit OAUTH, such as the authentication proxy, may log in every user.
    const { credentialBundle } = await complete(service.root, 'ACTIVITY_TYPE_OAUTH', login)
    expect(await signs(service.client(decryptCredentialBundle(credentialBundle, target.privateKey)))).toBe(COMPLETED)
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICY', { policyId })
  })

  test.each([
    {
      contact: 'email',
      feature: 'OTP_EMAIL_AUTH',
      moves: 'UPDATE_USER_EMAIL',
      sent: 'OTP_TYPE_EMAIL',
      at: 'bob@own.test',
    },
    {
      contact: 'phone',
      feature: 'SMS_AUTH',
      moves: 'UPDATE_USER_PHONE_NUMBER',
      sent: 'OTP_TYPE_SMS',
      at: '+49301234567',
    },
    { contact: 'email', feature: 'OTP_EMAIL_AUTH', moves: 'UPDATE_USER', sent: 'OTP_TYPE_EMAIL', at: 'bob@new.test' },
  ] as const)(
    'moves played: $moves gives a contact of one’s own, and a code that is sent there a key of the sort that a policy asks for',
    async ({ contact, feature, moves, sent, at }) => {
      const dan = await createTestUser(service, `dan by ${moves}`)
      const name = `FEATURE_NAME_${feature}`
      const byCode = `${is(dan)} && credentials.any(c, c.type == 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256')`
      const policyIds = [
        await allow('by code', byCode, "activity.action == 'SIGN'"),
        await allow('contacts', is(dan), `activity.type == 'ACTIVITY_TYPE_${moves}'`),
      ]
      // Nobody logs in by codes where no feature says so.
      expect(await told()).toEqual({ ways: [], limits: [] })
      await complete(service.root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name })
      expect((await told()).ways).toEqual([[`dan by ${moves}`, [moves], false]])

      expect(await signs(dan.client)).not.toBe(COMPLETED)
      const field = contact === 'email' ? 'userEmail' : 'userPhoneNumber'
      await complete(dan.client, `ACTIVITY_TYPE_${moves}`, { userId: dan.userId, [field]: at })
      const asked = { otpType: sent, contact: at }
      const { result, message } = await messageOf(service, () =>
        complete(service.root, 'ACTIVITY_TYPE_INIT_OTP_AUTH_V2', asked),
      )
      const target = generateP256KeyPair()
      const { credentialBundle } = await complete(service.root, 'ACTIVITY_TYPE_OTP_AUTH', {
        ...{ otpId: result.otpId, otpCode: codeIn(message), targetPublicKey: target.publicKey },
      })
      expect(await signs(service.client(decryptCredentialBundle(credentialBundle!, target.privateKey)))).toBe(COMPLETED)
      await complete(service.root, 'ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', { name })
      await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICIES', { policyIds })
    },
  )

  test('moves played: a wallet is given the name that a policy asks for', async () => {
    const policyIds = [
      await allow('hot', is(bob), "activity.action == 'SIGN' && wallet.label == 'hot'"),
      await allow('renames', is(bob), "activity.type == 'ACTIVITY_TYPE_UPDATE_WALLET'"),
    ]
    expect(await told()).toEqual({ ways: [['bob', ['UPDATE_WALLET'], false]], limits: [] })

    expect(await signs(bob.client)).not.toBe(COMPLETED)
    const renamed = { walletId: wallet.walletId, walletName: 'hot' }
    await complete(bob.client, 'ACTIVITY_TYPE_UPDATE_WALLET', renamed)
    expect(await signs(bob.client)).toBe(COMPLETED)
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICIES', { policyIds })
  })

  // The last: the root user is a member of the root quorum no more.
  test('moves played: a member of the root quorum begins a session for another, and is the root quorum', async () => {
    const carol = await createTestUser(service, 'carol')
    await allow('sessions', is(bob), "activity.type == 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2'")
    const userIds = [bob.userId, carol.userId]
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
    expect(await told()).toEqual({ ways: [['bob', ['CREATE_READ_WRITE_SESSION_V2'], false]], limits: [] })

    const target = generateP256KeyPair()
    const session = { targetPublicKey: target.publicKey, userId: carol.userId }
    const { credentialBundle } = await complete(bob.client, 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2', session)
    const asCarol = service.client(decryptCredentialBundle(credentialBundle, target.privateKey))
    const asked = await bob.client.submit('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', payload())
    expect(asked.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    expect((await asCarol.approve(asked.fingerprint)).status).toBe(COMPLETED)
  })
})
