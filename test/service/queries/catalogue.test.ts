import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type QueryName, queries } from '../../../src/protocol/index.ts'
import { queryHandlers } from '../../../src/service/resources/index.ts'
import { sampleOf } from '../handlers/sample.ts'
import { complete, newPrivateKey, newUser, refusalOf } from '../handlers/steps.ts'
import { makeTvcDeployment, TVC_IMAGE } from '../handlers/tvc.ts'
import { startTestService, type TestService } from '../harness.ts'
import { createPasskey } from '../passkey.ts'
import { type Anvil, startAnvil } from '../sends/anvil.ts'
import { SEPOLIA } from '../sends/status.ts'
import { makeWallet, SOLANA } from '../signing/keys.ts'
import { shapeFaults } from './shape.ts'

const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
const rows: Readonly<Record<QueryName, unknown>> = queryHandlers
const names = Object.keys(queries) as QueryName[]
const answered = names.filter((name) => typeof rows[name] === 'function')
let anvil: Anvil
let service: TestService
/** A request of each answered query that finds something. */
let requests: Partial<Record<QueryName, object>>
beforeAll(async () => {
  anvil = await startAnvil()
  service = await startTestService({
    chains: { [SEPOLIA]: { url: anvil.url }, [DEVNET]: { url: anvil.url } },
  })
  const { root } = service
  const tag = await complete(root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 't', userIds: [] })
  const user = newUser({ userEmail: 'a@acme.test', userPhoneNumber: '+15551234567', userTags: [tag.userTagId] })
  const { userIds } = await complete(root, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users: [user] })
  const policy = { policyName: 'p', effect: 'EFFECT_DENY', consensus: 'false', condition: 'false' }
  const { policyId } = await complete(root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
  const path = "m/44'/60'/0'/0/0"
  const account = {
    curve: 'CURVE_SECP256K1',
    pathFormat: 'PATH_FORMAT_BIP32',
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  }
  const wallet = { walletName: 'w', accounts: [{ ...account, path, name: 'main' }] }
  const { walletId, addresses } = await complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', wallet)
  await complete(root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_SMS_AUTH' })
  const { privateKeys } = await complete(root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [newPrivateKey()],
  })
  const contract = { smartContractAddress: '0x1', type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', label: 'c' }
  const { smartContractInterfaceId } = await complete(root, 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', {
    ...contract,
    smartContractInterface: '[]',
  })
  const invitation = { receiverUserName: 'i', receiverUserEmail: 'i@acme.test', receiverUserTags: [tag.userTagId] }
  await complete(root, 'ACTIVITY_TYPE_CREATE_INVITATIONS', {
    invitations: [{ ...invitation, accessType: 'ACCESS_TYPE_ALL', senderUserId: userIds[0] }],
  })
  const oauth2 = { provider: 'OAUTH2_PROVIDER_X', clientId: 'c', encryptedClientSecret: '00' }
  const { oauth2CredentialId } = await complete(root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', oauth2)
  const { authenticatorIds } = await complete(root, 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', {
    userId: userIds[0],
    authenticators: [createPasskey().register()],
  })
  const { userTags: _, ...rootUser } = newUser()
  const suborg = { subOrganizationName: 's', rootUsers: [rootUser], rootQuorumThreshold: 1 }
  await complete(root, 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', suborg)
  const subscriptions = [{ eventType: 'ACTIVITY_UPDATES', filtersJson: '{}' }]
  const endpoint = { url: 'https://1.1.1.1/', name: 'hook', subscriptions }
  await complete(root, 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', endpoint)
  const rules = [{ cidr: '127.0.0.1/32', label: 'here' }]
  await complete(root, 'ACTIVITY_TYPE_SET_IP_ALLOWLIST', { rules, enabled: true, onEvaluationError: 'DENY' })
  await complete(root, 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG', {
    orgWindowLimitUsd: '100',
    subOrgWindowLimitUsd: '10',
    windowDurationMinutes: '60',
  })
  const solana = (await makeWallet(root, SOLANA)).accounts[0]!
  const { sendTransactionStatusId } = await complete(root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', {
    from: addresses[0],
    caip2: SEPOLIA,
    to: addresses[0],
  })
  const profile = { sessionProfileName: 's', scope: 'true', expirationSeconds: '60' }
  const { sessionProfileId } = await complete(root, 'ACTIVITY_TYPE_CREATE_SESSION_PROFILE', profile)
  const requiredAuthenticationMethods = [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] }]
  const mfaPolicy = {
    userId: userIds[0],
    mfaPolicyName: 'm',
    condition: 'true',
    requiredAuthenticationMethods,
    order: 1,
  }
  const { mfaPolicyId } = await complete(root, 'ACTIVITY_TYPE_CREATE_MFA_POLICY', mfaPolicy)
  const { apiKeys } = await root.query('get_api_keys', { userId: userIds[0] })
  const { activities: listed } = await root.query('list_activities')
  const activityId = listed[0]!.id
  const { tvcAppId, deploymentId } = await makeTvcDeployment(root)
  requests = {
    get_tvc_app: { tvcAppId },
    get_app_status: { appId: tvcAppId },
    list_tvc_app_deployments: { appId: tvcAppId },
    get_tvc_deployment: { deploymentId },
    get_tvc_deployment_debug_logs: { deploymentId },
    validate_tvc_image: { pivotContainerImageUrl: TVC_IMAGE },
    get_user: { userId: userIds[0] },
    get_api_key: { apiKeyId: apiKeys[0]!.apiKeyId },
    get_policy: { policyId },
    get_wallet: { walletId },
    get_private_key: { privateKeyId: privateKeys[0]!.privateKeyId },
    get_smart_contract_interface: { smartContractInterfaceId },
    get_oauth2_credential: { oauth2CredentialId },
    get_wallet_account: { walletId, path },
    get_activity: { activityId },
    get_session_profile: { sessionProfileId },
    get_policy_evaluations: { activityId },
    list_app_proofs: { activityId },
    get_mfa_status: { activityId },
    get_mfa_policy: { userId: userIds[0], mfaPolicyId },
    get_authenticator: { authenticatorId: authenticatorIds[0] },
    get_authenticators: { userId: userIds[0] },
    get_mfa_policies: { userId: userIds[0] },
    get_wallet_address_balances: { address: addresses[0], caip2: SEPOLIA },
    list_supported_assets: { caip2: SEPOLIA },
    list_sol_transaction_history: { address: solana.address, caip2: DEVNET },
    list_eth_transaction_history: { address: addresses[0], caip2: SEPOLIA },
    get_nonces: { address: addresses[0], caip2: SEPOLIA, nonce: true },
    get_send_transaction_status: { sendTransactionStatusId },
    list_email_events: { email: 'a@acme.test' },
  }
})
afterAll(async () => {
  await service.close()
  await anvil.kill()
})

describe('catalogue of queries', () => {
  test('catalogue of queries: each of the 66 has a row', () => {
    expect(names).toHaveLength(66)
    expect(Object.keys(queryHandlers).sort()).toEqual([...names].sort())
    expect(answered).toHaveLength(58)
  })

  // There is no boot proof, and a provider to ask about a purchase: tests of their own tell of both.
  test.each(answered.filter((name) => !/boot_proof|onramp/.test(name)))(
    'catalogue of queries: %s answers in its published shape',
    async (name) => {
      expect(shapeFaults(name, await service.root.query(name, requests[name] ?? {}))).toEqual([])
    },
  )

  test('catalogue of queries: the others are refused with their reason', async () => {
    for (const name of names.filter((other) => !answered.includes(other))) {
      const { notExecuted } = rows[name] as { notExecuted: string }
      const { organizationId } = service
      const request = { ...sampleOf(queries[name].request), organizationId }
      const [status, code, message] = await refusalOf(service.root.query(name, request))
      expect([name, status, code, message]).toEqual([
        name,
        501,
        12,
        `query ${name} (${notExecuted}) is not implemented by this service`,
      ])
    }
  })
})
