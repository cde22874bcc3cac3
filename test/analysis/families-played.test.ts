/**
 * Of activities that are said to give nobody power, somebody who may do nothing but one of them does it in a service, in an organization
 * whose policies wait for a name, a tag, an address or another person; and can sign and write policies no more than before.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FAMILIES } from '../../src/analysis/families.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { type ActivityType, activities } from '../../src/protocol/index.ts'
import { handlers } from '../../src/service/resources/index.ts'
import { complete, fresh, makePrivateKey, makeUser, newKey, newPrivateKey, newUser } from '../service/handlers/steps.ts'
import {
  createTestUser,
  startTestService,
  type TestClient,
  type TestService,
  type TestUser,
} from '../service/harness.ts'

/** What requests are made of. */
interface Things {
  readonly root: TestClient
  readonly rootUserId: string
  readonly me: TestUser
  /** A key that whoever asks has. */
  readonly ours: { readonly publicKey: string }
  readonly wallet: { readonly walletId: string; readonly addresses: readonly string[] }
  readonly keyId: string
  readonly hot: string
}
type Request = (things: Things) => object | Promise<object>

const account = (index = 0) => ({
  ...{ curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: `m/44'/60'/0'/0/${index}` },
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
})
const makeWallet = ({ root }: Pick<Things, 'root'>) =>
  complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: fresh('spare'), accounts: [account()] })
const makeKeyTag = async ({ root }: Things) =>
  (await complete(root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', { privateKeyTagName: fresh('tag'), privateKeyIds: [] }))
    .privateKeyTagId
const payload = (signWith: string) => ({
  ...{ signWith, payload: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex') },
  ...{ encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_NO_OP' },
})
const target = () => ({ targetPublicKey: generateP256KeyPair().publicKey })
const accountOf = async ({ root }: Things, walletId: string) =>
  (await root.query('list_wallet_accounts', { walletId })).accounts[0]!.walletAccountId

/** Requests of activities that give nobody power. */
const GIVE_NOTHING: readonly (readonly [ActivityType, Request])[] = [
  ['ACTIVITY_TYPE_DELETE_USERS', async ({ root }) => ({ userIds: [await makeUser(root)] })],
  [
    'ACTIVITY_TYPE_DELETE_API_KEYS',
    async ({ root }) => {
      const userId = await makeUser(root, { apiKeys: [newKey(), newKey()] })
      const { apiKeys } = await root.query('get_api_keys', { userId })
      return { userId, apiKeyIds: [apiKeys[0]!.apiKeyId] }
    },
  ],
  ['ACTIVITY_TYPE_CREATE_USER_TAG', ({ me }) => ({ userTagName: fresh('hot'), userIds: [me.userId] })],
  ['ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', ({ keyId }) => ({ privateKeyTagName: fresh('t'), privateKeyIds: [keyId] })],
  [
    'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
    async (things) => ({
      privateKeyTagId: await makeKeyTag(things),
      addPrivateKeyIds: [things.keyId],
      removePrivateKeyIds: [],
    }),
  ],
  ['ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS', async (things) => ({ privateKeyTagIds: [await makeKeyTag(things)] })],
  [
    'ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME',
    async (things) => ({
      walletAccountId: await accountOf(things, things.wallet.walletId),
      name: 'hot',
    }),
  ],
  ['ACTIVITY_TYPE_CREATE_WALLET', () => ({ walletName: 'hot', accounts: [account()] })],
  ['ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', ({ wallet }) => ({ walletId: wallet.walletId, accounts: [account(7)] })],
  ['ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', () => ({ privateKeys: [newPrivateKey()] })],
  ['ACTIVITY_TYPE_INIT_IMPORT_WALLET', ({ me }) => ({ userId: me.userId })],
  ['ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY', ({ me }) => ({ userId: me.userId })],
  ['ACTIVITY_TYPE_DISABLE_PRIVATE_KEY', async ({ root }) => ({ privateKeyId: await makePrivateKey(root) })],
  [
    'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS',
    async ({ root }) => ({ privateKeyIds: [await makePrivateKey(root)], deleteWithoutExport: true }),
  ],
  [
    'ACTIVITY_TYPE_DELETE_WALLETS',
    async (things) => ({ walletIds: [(await makeWallet(things)).walletId], deleteWithoutExport: true }),
  ],
  [
    'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
    async (things) => ({
      walletAccountIds: [await accountOf(things, (await makeWallet(things)).walletId)],
      deleteWithoutExport: true,
    }),
  ],
  [
    'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS',
    ({ wallet }) => {
      const { payload: one, ...rest } = payload(wallet.addresses[0]!)
      return { ...rest, payloads: [one] }
    },
  ],
  ['ACTIVITY_TYPE_EXPORT_WALLET', async (things) => ({ walletId: (await makeWallet(things)).walletId, ...target() })],
  [
    'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT',
    async (things) => ({ address: (await makeWallet(things)).addresses[0]!, ...target() }),
  ],
  ['ACTIVITY_TYPE_EXPORT_PRIVATE_KEY', async ({ root }) => ({ privateKeyId: await makePrivateKey(root), ...target() })],
  ['ACTIVITY_TYPE_STAMP_LOGIN', ({ ours }) => ({ publicKey: ours.publicKey })],
  ['ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION', () => ({})],
  ['ACTIVITY_TYPE_CREATE_SESSION_PROFILE', () => ({ sessionProfileName: fresh('profile'), scope: 'true' })],
  [
    'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7',
    ({ ours }) => {
      const rootUsers = [newUser({ apiKeys: [newKey({ publicKey: ours.publicKey })] })]
      return { subOrganizationName: fresh('sub'), rootUsers, rootQuorumThreshold: 1 }
    },
  ],
  ['ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS', () => ({ allowedOrigins: ['https://acme.test'] })],
  ['ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST', () => ({})],
  ['ACTIVITY_TYPE_DISABLE_AUTH_PROXY', () => ({})],
  [
    'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG',
    () => ({ orgWindowLimitUsd: '6', subOrgWindowLimitUsd: '6', windowDurationMinutes: '6' }),
  ],
  ['ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', () => ({ name: 'FEATURE_NAME_SMS_AUTH', value: '' })],
  ['ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', () => ({ name: 'FEATURE_NAME_SMS_AUTH' })],
  ['ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME', () => ({ organizationName: fresh('acme') })],
]

/** What needs a mailbox, a provider, a chain, a passkey or an enclave on the other side, or would end the organization that it is played in. */
const NOT_PLAYED = `
  ACCEPT_INVITATION DELETE_INVITATION DELETE_AUTHENTICATORS DELETE_OAUTH_PROVIDERS RECOVER_USER INIT_OTP_AUTH
  INIT_OTP VERIFY_OTP OAUTH2_AUTHENTICATE CREATE_MFA_POLICY UPDATE_MFA_POLICY DELETE_MFA_POLICY SET_IP_ALLOWLIST
  CREATE_OAUTH2_CREDENTIAL UPDATE_OAUTH2_CREDENTIAL DELETE_OAUTH2_CREDENTIAL CREATE_SMART_CONTRACT_INTERFACE
  DELETE_SMART_CONTRACT_INTERFACE INIT_IMPORT_SECRETS IMPORT_WALLET IMPORT_PRIVATE_KEY IMPORT_SECRETS
  EXPORT_SECRETS SIGN_RAW_PAYLOAD SIGN_TRANSACTION ETH_SEND_RAW_TRANSACTION ETH_SEND_TRANSACTION
  ETH_UNDELEGATE_7702 SOL_SEND_TRANSACTION SPARK_SIGN_FROST SPARK_PREPARE_TRANSFER SPARK_CLAIM_TRANSFER
  SPARK_PREPARE_LIGHTNING_RECEIVE CREATE_ORGANIZATION DELETE_ORGANIZATION DELETE_SUB_ORGANIZATION
  INIT_FIAT_ON_RAMP CREATE_FIAT_ON_RAMP_CREDENTIAL UPDATE_FIAT_ON_RAMP_CREDENTIAL DELETE_FIAT_ON_RAMP_CREDENTIAL
  SET_PAYMENT_METHOD DELETE_PAYMENT_METHOD ACTIVATE_BILLING_TIER CREATE_WEBHOOK_ENDPOINT UPDATE_WEBHOOK_ENDPOINT
  DELETE_WEBHOOK_ENDPOINT CREATE_TVC_APP CREATE_TVC_DEPLOYMENT CREATE_TVC_MANIFEST_APPROVALS
  UPDATE_TVC_APP_LIVE_DEPLOYMENT DELETE_TVC_DEPLOYMENT DELETE_TVC_APP_AND_DEPLOYMENTS RESTORE_TVC_DEPLOYMENT
  POST_TVC_QUORUM_KEY_SHARE CREATE_TVC_OPERATOR CREATE_TVC_QUORUM_KEY RE_ENCRYPT_TVC_QUORUM_KEY_SHARE`

/** Moves, which the same people must be found to gain by. */
const GIVE: readonly (readonly [ActivityType, Request])[] = [
  ['ACTIVITY_TYPE_UPDATE_USER_TAG', ({ me, hot }) => ({ userTagId: hot, addUserIds: [me.userId], removeUserIds: [] })],
  ['ACTIVITY_TYPE_UPDATE_USER_NAME', ({ me }) => ({ userId: me.userId, userName: 'the signer' })],
  ['ACTIVITY_TYPE_UPDATE_USER_EMAIL', ({ me }) => ({ userId: me.userId, userEmail: 'desk@acme.test' })],
  [
    'ACTIVITY_TYPE_CREATE_USERS_V4',
    ({ ours }) => ({ users: [newUser({ apiKeys: [newKey({ publicKey: ours.publicKey })] })] }),
  ],
  [
    'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
    ({ rootUserId, ours }) => ({ userId: rootUserId, apiKeys: [newKey({ publicKey: ours.publicKey })] }),
  ],
  [
    'ACTIVITY_TYPE_CREATE_POLICY_V3',
    () => ({ policyName: fresh('any'), effect: 'EFFECT_ALLOW', condition: 'true', consensus: 'true', notes: '' }),
  ],
]

describe('families played', () => {
  let service: TestService
  let shared: Pick<Things, 'root' | 'rootUserId' | 'wallet' | 'keyId' | 'hot'>
  let probed: string
  beforeAll(async () => {
    service = await startTestService()
    const { root, rootUserId } = service
    const tag = async (userTagName: string) =>
      (await complete(root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName, userIds: [] })).userTagId
    probed = await tag('probed')
    shared = {
      root,
      rootUserId,
      wallet: await makeWallet(service),
      keyId: await makePrivateKey(root),
      hot: await tag('hot'),
    }
    const tagged = (id: string) => `approvers.any(u, u.tags.contains('${id}'))`
    await allow(tagged(shared.hot), "activity.action == 'SIGN'")
    await allow("approvers.any(u, u.alias == 'the signer')", "activity.action == 'SIGN'")
    await allow("approvers.any(u, u.email == 'desk@acme.test')", "activity.action == 'SIGN'")
    await allow('approvers.count() >= 2', "activity.action == 'SIGN'")
    await allow(tagged(probed), "activity.action == 'SIGN' && wallet.label == 'hot'")
  })
  afterAll(() => service.close())

  const allow = async (consensus: string, condition: string) => {
    const policy = { policyName: fresh('policy'), effect: 'EFFECT_ALLOW', consensus, condition, notes: '' }
    return (await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)).policyId
  }
  const statusOf = async (client: TestClient, type: ActivityType, parameters: object) => {
    const { path, text } = service.body(type, parameters)
    const { body } = await client.raw(path, text)
    return body['activity'] as { readonly status: string; readonly fingerprint: string } | undefined
  }
  /** What somebody gets done with these keys. */
  const getsDone = async (clients: readonly TestClient[]) => {
    const asked: readonly (readonly [ActivityType, object])[] = [
      ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', payload(shared.wallet.addresses[0]!)],
      ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', payload(shared.keyId)],
      [
        'ACTIVITY_TYPE_CREATE_POLICY_V3',
        { policyName: fresh('p'), effect: 'EFFECT_DENY', condition: 'false', consensus: 'true', notes: '' },
      ],
    ]
    const done: string[] = []
    for (const [type, parameters] of asked)
      for (const client of clients) {
        const first = await statusOf(client, type, parameters)
        const others =
          first?.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' ? clients.filter((one) => one !== client) : []
        const votes = await Promise.all(
          others.map((one) => statusOf(one, 'ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint: first!.fingerprint })),
        )
        if ([first, ...votes].some((one) => one?.status === 'ACTIVITY_STATUS_COMPLETED')) done.push(type)
      }
    return done
  }
  /** What a user gets done who may do this alone, before and after it was done. */
  const play = async (type: ActivityType, request: Request) => {
    const me = await createTestUser(service, fresh('me'), [probed])
    const ours = generateP256KeyPair()
    const policyId = await allow(`approvers.any(u, u.id == '${me.userId}')`, `activity.type == '${type}'`)
    const clients = [me.client, service.client(ours.privateKey)]
    const before = await getsDone(clients)
    const by = activities[type].rootOnly ? service.root : me.client
    const activity = await statusOf(by, type, await request({ ...shared, me, ours }))
    const after = await getsDone(clients)
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_POLICY', { policyId })
    return { before, status: activity?.status, after }
  }

  test.each(GIVE_NOTHING)(
    'families played: whoever does %s gets nothing done that they did not before',
    async (type, request) => {
      expect(FAMILIES[activities[type].family]).toHaveProperty('nothing')
      expect(await play(type, request)).toEqual({ before: [], status: 'ACTIVITY_STATUS_COMPLETED', after: [] })
    },
  )

  test.each(GIVE)('families played: whoever does %s is found to get more done', async (type, request) => {
    expect(FAMILIES[activities[type].family]).toHaveProperty('gains')
    const { status, after } = await play(type, request)
    expect(status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect(after).toContain('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2')
  })

  test('families played: what the service carries out is played, or named as what is not', () => {
    const played = new Set(GIVE_NOTHING.map(([type]) => activities[type].family))
    const others = Object.values(activities).flatMap(({ type, family }) =>
      'nothing' in FAMILIES[family] && !played.has(family) && 'execute' in handlers[type] ? [family] : [],
    )
    expect([...new Set(others)].sort()).toEqual(NOT_PLAYED.trim().split(/\s+/).sort())
  })
})
