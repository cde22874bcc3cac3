import { expect } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { makePerson, nonceOf } from '../../service/oauth/stage.ts'
import { codeIn, encryptCode, loginBy, messageOf } from '../../service/one-time-passcodes/outbox.ts'
import { account, addressOf, type Contact, type FlowStage, type Flows, phoneOf } from './stage.ts'

/** The client of a session's key, that the parent's root user has logged in with. */
async function loggedIn(stage: FlowStage) {
  const session = generateP256KeyPair()
  await stage.parent().stampLogin({ publicKey: session.publicKey })
  return { session, client: stage.server(session, stage.service.organizationId) }
}

async function logInByCode(stage: FlowStage, { asked, user }: Contact): Promise<void> {
  const { service } = stage
  const home = await makePerson(service, [], user)
  const { result, message } = await messageOf(service, () => stage.parent().initOtp({ ...asked, appName: 'Acme' }))
  const { otpId, otpEncryptionTargetBundle: bundle } = result
  const [key, session] = [generateP256KeyPair(), generateP256KeyPair()]
  const sent = { otpId, bundle, code: codeIn(message) }
  const encryptedOtpBundle = await encryptCode(service, sent, sent.code, key.publicKey)
  const { verificationToken: token } = await stage.parent().verifyOtp({ otpId, encryptedOtpBundle })
  const login = loginBy({ token, key }, session.publicKey)
  await stage.parent().otpLogin({ organizationId: home.organizationId, ...login } as never)
  expect(await stage.server(session, home.organizationId).getWhoami()).toMatchObject(home)
}

/** `@turnkey/sdk-server`: a backend with a key of its own. */
export const sdkServer: Flows = {
  'passkey sign-up': { no: 'runs on servers' },
  'passkey login': { no: 'runs on servers' },
  'e-mail code': (stage) => logInByCode(stage, addressOf('server@example.test')),
  'SMS code': (stage) => logInByCode(stage, phoneOf('+4930555002')),
  async OAuth(stage) {
    const { service, issuer } = stage
    const session = generateP256KeyPair()
    const home = await makePerson(service, [await issuer.token({ sub: 'server' })])
    const oidcToken = await issuer.token({ sub: 'server', nonce: nonceOf(session.publicKey) })
    const { organizationId } = home
    await stage.parent().oauthLogin({ organizationId, oidcToken, publicKey: session.publicKey })
    expect(await stage.server(session, organizationId).getWhoami()).toMatchObject(home)
  },
  wallet: { no: 'runs on servers' },
  async MFA(stage) {
    const key = generateP256KeyPair()
    const apiKeys = [{ apiKeyName: 'k', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }]
    const { organizationId, userId } = await makePerson(stage.service, [], { apiKeys })
    const byKey = stage.server(key, organizationId)
    const session = generateP256KeyPair()
    await byKey.stampLogin({ publicKey: session.publicKey })
    const types = ['AUTHENTICATION_TYPE_API_KEY', 'AUTHENTICATION_TYPE_SESSION'] as const
    await byKey.createMfaPolicy({
      userId,
      mfaPolicyName: 'wallets take a session',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'",
      requiredAuthenticationMethods: types.map((type) => ({ any: [{ type }] })),
      order: 0,
    })
    const { activity } = await byKey.createWallet({ walletName: 'w', accounts: [account] })
    expect(activity.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED')
    const { mfaStatuses } = await byKey.getMfaStatus({ activityId: activity.id })
    expect(mfaStatuses).toMatchObject([{ userId, satisfied: false, satisfiedMethods: [{ type: types[0] }] }])
    const { fingerprint } = activity
    const approved = await stage.server(session, organizationId).approveActivity({ fingerprint })
    expect(approved.activity.status).toBe('ACTIVITY_STATUS_COMPLETED')
  },
  async refresh(stage) {
    const { client } = await loggedIn(stage)
    const next = generateP256KeyPair()
    await client.stampLogin({ publicKey: next.publicKey })
    const { organizationId, rootUserId: userId } = stage.service
    expect(await stage.server(next, organizationId).getWhoami()).toMatchObject({ userId })
  },
  async sign(stage) {
    const { client } = await loggedIn(stage)
    const { addresses } = await client.createWallet({ walletName: 'of a session', accounts: [account] })
    const signed = await client.signRawPayload({
      signWith: addresses[0]!,
      payload: 'hello',
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    })
    expect(signed.r).toMatch(/^[0-9a-f]{64}$/)
  },
  async 'log out'(stage) {
    const { client, session } = await loggedIn(stage)
    const userId = stage.service.rootUserId
    const { apiKeys } = await client.getApiKeys({ userId })
    const { apiKeyId } = apiKeys.find(({ credential }) => credential.publicKey === session.publicKey)!
    await client.deleteApiKeys({ userId, apiKeyIds: [apiKeyId] })
    await expect(client.getWhoami()).rejects.toThrow('could not find public key')
  },
}
