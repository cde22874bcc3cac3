import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ActivityType, activities } from '../../../src/protocol/index.ts'
import { handlers, listOperations } from '../../../src/service/resources/index.ts'
import { startTestService, type TestService } from '../harness.ts'
import { sampleOf } from './sample.ts'
import { refusalOf } from './steps.ts'

/** What the service carries out; the rest of the catalogue is refused with a reason. */
const EXECUTED = [
  ...['CREATE_USERS', 'CREATE_USERS_V2', 'CREATE_USERS_V3', 'CREATE_USERS_V4', 'CREATE_API_ONLY_USERS'],
  ...['UPDATE_USER', 'UPDATE_USER_NAME', 'UPDATE_USER_EMAIL', 'UPDATE_USER_PHONE_NUMBER', 'DELETE_USERS'],
  ...['CREATE_USER_TAG', 'UPDATE_USER_TAG', 'DELETE_USER_TAGS'],
  ...['CREATE_API_KEYS', 'CREATE_API_KEYS_V2', 'DELETE_API_KEYS'],
  ...['CREATE_POLICY_V3', 'CREATE_POLICIES', 'UPDATE_POLICY', 'UPDATE_POLICY_V2', 'DELETE_POLICY', 'DELETE_POLICIES'],
  ...['UPDATE_ROOT_QUORUM', 'UPDATE_ORGANIZATION_NAME', 'SET_ORGANIZATION_FEATURE', 'REMOVE_ORGANIZATION_FEATURE'],
  ...['CREATE_WALLET', 'UPDATE_WALLET', 'DELETE_WALLETS'],
  ...['CREATE_WALLET_ACCOUNTS', 'UPDATE_WALLET_ACCOUNT_NAME', 'DELETE_WALLET_ACCOUNTS'],
  ...['CREATE_PRIVATE_KEYS', 'CREATE_PRIVATE_KEYS_V2', 'DISABLE_PRIVATE_KEY', 'DELETE_PRIVATE_KEYS'],
  ...['CREATE_PRIVATE_KEY_TAG', 'UPDATE_PRIVATE_KEY_TAG', 'DELETE_PRIVATE_KEY_TAGS'],
  ...['INIT_IMPORT_WALLET', 'IMPORT_WALLET', 'INIT_IMPORT_PRIVATE_KEY', 'IMPORT_PRIVATE_KEY'],
  ...['EXPORT_WALLET', 'EXPORT_WALLET_ACCOUNT', 'EXPORT_PRIVATE_KEY'],
  ...['INIT_IMPORT_SECRETS', 'IMPORT_SECRETS', 'EXPORT_SECRETS'],
  ...['SIGN_RAW_PAYLOAD', 'SIGN_RAW_PAYLOAD_V2', 'SIGN_RAW_PAYLOADS', 'SIGN_TRANSACTION', 'SIGN_TRANSACTION_V2'],
  ...['ETH_SEND_TRANSACTION', 'ETH_SEND_TRANSACTION_V2', 'ETH_SEND_RAW_TRANSACTION', 'ETH_UNDELEGATE_7702'],
  ...['SOL_SEND_TRANSACTION', 'SOL_SEND_TRANSACTION_V2'],
  ...['SPARK_SIGN_FROST', 'SPARK_PREPARE_TRANSFER', 'SPARK_CLAIM_TRANSFER', 'SPARK_PREPARE_LIGHTNING_RECEIVE'],
  ...['CREATE_SMART_CONTRACT_INTERFACE', 'DELETE_SMART_CONTRACT_INTERFACE'],
  ...['CREATE_INVITATIONS', 'ACCEPT_INVITATION', 'ACCEPT_INVITATION_V2', 'DELETE_INVITATION'],
  ...['CREATE_ORGANIZATION', 'CREATE_ORGANIZATION_V2', 'DELETE_ORGANIZATION'],
  ...['CREATE_OAUTH2_CREDENTIAL', 'UPDATE_OAUTH2_CREDENTIAL', 'DELETE_OAUTH2_CREDENTIAL'],
  ...['CREATE_FIAT_ON_RAMP_CREDENTIAL', 'UPDATE_FIAT_ON_RAMP_CREDENTIAL', 'DELETE_FIAT_ON_RAMP_CREDENTIAL'],
  'INIT_FIAT_ON_RAMP',
  ...['SET_PAYMENT_METHOD', 'SET_PAYMENT_METHOD_V2', 'DELETE_PAYMENT_METHOD', 'ACTIVATE_BILLING_TIER'],
  'UPDATE_ALLOWED_ORIGINS',
  ...['CREATE_TVC_APP', 'UPDATE_TVC_APP_LIVE_DEPLOYMENT', 'DELETE_TVC_APP_AND_DEPLOYMENTS'],
  ...['CREATE_TVC_DEPLOYMENT', 'CREATE_TVC_MANIFEST_APPROVALS', 'DELETE_TVC_DEPLOYMENT', 'RESTORE_TVC_DEPLOYMENT'],
  ...['CREATE_TVC_OPERATOR', 'CREATE_TVC_QUORUM_KEY', 'POST_TVC_QUORUM_KEY_SHARE', 'RE_ENCRYPT_TVC_QUORUM_KEY_SHARE'],
  ...['OAUTH', 'OAUTH_LOGIN', 'OAUTH2_AUTHENTICATE'],
  ...['CREATE_AUTHENTICATORS', 'CREATE_AUTHENTICATORS_V2', 'DELETE_AUTHENTICATORS'],
  ...['CREATE_OAUTH_PROVIDERS', 'CREATE_OAUTH_PROVIDERS_V2', 'DELETE_OAUTH_PROVIDERS'],
  ...['CREATE_SUB_ORGANIZATION', ...[2, 3, 4, 5, 6, 7, 8].map((version) => `CREATE_SUB_ORGANIZATION_V${version}`)],
  'DELETE_SUB_ORGANIZATION',
  ...['CREATE_WEBHOOK_ENDPOINT', 'UPDATE_WEBHOOK_ENDPOINT', 'DELETE_WEBHOOK_ENDPOINT'],
  ...['SET_IP_ALLOWLIST', 'REMOVE_IP_ALLOWLIST'],
  'UPSERT_GAS_USAGE_CONFIG',
  ...['INIT_OTP', 'INIT_OTP_V2', 'INIT_OTP_V3', 'VERIFY_OTP', 'VERIFY_OTP_V2', 'OTP_LOGIN', 'OTP_LOGIN_V2'],
  ...['INIT_OTP_AUTH', 'INIT_OTP_AUTH_V2', 'INIT_OTP_AUTH_V3', 'OTP_AUTH'],
  ...['EMAIL_AUTH', 'EMAIL_AUTH_V2', 'EMAIL_AUTH_V3'],
  ...['INIT_USER_EMAIL_RECOVERY', 'INIT_USER_EMAIL_RECOVERY_V2', 'RECOVER_USER'],
  ...['ENABLE_AUTH_PROXY', 'DISABLE_AUTH_PROXY', 'UPDATE_AUTH_PROXY_CONFIG'],
  ...[
    'CREATE_MFA_POLICY',
    'UPDATE_MFA_POLICY',
    'DELETE_MFA_POLICY',
    'CREATE_SESSION_PROFILE',
    'STAMP_LOGIN',
    'CREATE_READ_ONLY_SESSION',
    'CREATE_READ_WRITE_SESSION',
    'CREATE_READ_WRITE_SESSION_V2',
  ],
].map((name) => `ACTIVITY_TYPE_${name}`)
const VOTES = ['ACTIVITY_TYPE_APPROVE_ACTIVITY', 'ACTIVITY_TYPE_REJECT_ACTIVITY']

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

describe('catalogue of activities', () => {
  const types = Object.keys(activities) as ActivityType[]

  test('catalogue of activities: each of the 162 types has a row, and the table says which are carried out', () => {
    expect(types).toHaveLength(162)
    expect(Object.keys(handlers).sort()).toEqual([...types].sort())
    const executed = types.filter((type) => 'execute' in handlers[type])
    expect(executed.sort()).toEqual([...EXECUTED].sort())
  })

  test('catalogue of activities: what is carried out in no version, or not answered, is swaps and earn', () => {
    const names = listOperations().flatMap(({ name, done }) => (done.length === 0 ? [name] : []))
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !/swap|earn/.test(name))).toEqual([])
  })

  test('catalogue of activities: an operation that the first version did not carry out is noted with its version', () => {
    const bySince = Map.groupBy(listOperations(), ({ since }) => since)
    const counts = [...bySince].map(([since, all]) => [since, all.length])
    expect(Object.fromEntries(counts)).toEqual({ '0.1.0': 176, undefined: 17 })
  })

  test('catalogue of activities: a type that is not carried out is refused with its reason and leaves nothing', async () => {
    const others = types.filter((type) => !EXECUTED.includes(type) && !VOTES.includes(type))
    expect(others).toHaveLength(162 - EXECUTED.length - VOTES.length)
    for (const type of others) {
      const row = handlers[type]
      const reason = 'notExecuted' in row ? row.notExecuted : 'none'
      const [status, code, message] = await refusalOf(service.root.submit(type, sampleOf(activities[type].intent)))
      expect([type, status, code, message]).toEqual([
        type,
        501,
        12,
        `activity ${type} (${reason}) is not implemented by this service`,
      ])
    }
    expect((await service.root.query('list_activities')).activities).toEqual([])
  })

  test('catalogue of activities: a type that is carried out leaves an activity or says what is wrong', async () => {
    for (const type of EXECUTED as ActivityType[]) {
      const body = service.body(type, sampleOf(activities[type].intent))
      const { status, body: answer } = await service.root.raw(body.path, body.text)
      const found = status === 200 ? (answer['activity'] as { status: string }).status : answer['code']
      expect([type, found]).toEqual([
        type,
        status === 200 ? 'ACTIVITY_STATUS_COMPLETED' : expect.toBeOneOf([3, 5, 6, 7]),
      ])
    }
  })

  test.each(VOTES as ActivityType[])('catalogue of activities: %s needs an activity to vote on', async (type) => {
    expect(await refusalOf(service.root.submit(type, { fingerprint: 'sha256:none' }))).toEqual([
      404,
      5,
      'No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint',
      '',
    ])
  })
})
