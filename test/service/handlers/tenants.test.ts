/** Ids of one organization in the hands of another: they must look like ids that do not exist. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import type { ActivityType, QueryName } from '../../../src/protocol/index.ts'
import { startTestService, type TestService } from '../harness.ts'
import { createPasskey } from '../passkey.ts'
import {
  addTenant,
  complete,
  invalid,
  makePrivateKey,
  makeUser,
  missing,
  newPrivateKey,
  newUser,
  refusalOf,
  type Tenant,
} from './steps.ts'

const ethereum = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
}
const oauth2 = { provider: 'OAUTH2_PROVIDER_X', clientId: 'c', encryptedClientSecret: '00' }
const invitationFrom = (senderUserId: string) => ({
  receiverUserName: 'i',
  receiverUserEmail: 'i@acme.test',
  receiverUserTags: [],
  accessType: 'ACCESS_TYPE_ALL',
  senderUserId,
})
let service: TestService
let other: Tenant
let ids: Record<
  | 'userId'
  | 'apiKeyId'
  | 'userTagId'
  | 'policyId'
  | 'walletId'
  | 'walletAccountId'
  | 'address'
  | 'publicKey'
  | 'privateKeyId'
  | 'privateKeyTagId'
  | 'smartContractInterfaceId'
  | 'invitationId'
  | 'oauth2CredentialId'
  | 'authenticatorId',
  string
>
beforeAll(async () => {
  service = await startTestService()
  other = await addTenant(service)
  const { root } = service
  const userId = await makeUser(root)
  const { userTagId } = await complete(root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 't', userIds: [userId] })
  const policy = { policyName: 'p', effect: 'EFFECT_DENY', condition: 'false' }
  const { policyId } = await complete(root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy)
  const wallet = { walletName: 'w', accounts: [ethereum] }
  const { walletId } = await complete(root, 'ACTIVITY_TYPE_CREATE_WALLET', wallet)
  const { accounts } = await root.query('list_wallet_accounts')
  const { apiKeys } = await root.query('get_api_keys', { userId })
  const [{ apiKeyId }, { walletAccountId, address, publicKey = '' }] = [apiKeys[0]!, accounts[0]!]
  const privateKeyId = await makePrivateKey(root)
  const keyTag = { privateKeyTagName: 't', privateKeyIds: [privateKeyId] }
  const { privateKeyTagId } = await complete(root, 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', keyTag)
  const { smartContractInterfaceId } = await complete(root, 'ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', {
    smartContractAddress: '0x1',
    smartContractInterface: '[]',
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    label: 'c',
  })
  const invitation = invitationFrom(userId)
  const { invitationIds } = await complete(root, 'ACTIVITY_TYPE_CREATE_INVITATIONS', { invitations: [invitation] })
  const { oauth2CredentialId } = await complete(root, 'ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', oauth2)
  const { authenticatorIds } = await complete(root, 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', {
    userId,
    authenticators: [createPasskey().register()],
  })
  const others = {
    address,
    publicKey,
    authenticatorId: authenticatorIds[0]!,
    smartContractInterfaceId,
    invitationId: invitationIds[0]!,
    oauth2CredentialId,
  }
  ids = { userId, apiKeyId, userTagId, policyId, walletId, walletAccountId, privateKeyId, privateKeyTagId, ...others }
})
afterAll(() => service.close())

const noUser = () => missing(`unable to find user ${ids.userId} in organization ${other.organizationId}`)
const noCredential = () => [
  404,
  5,
  `oauth2 credential not found: ${ids.oauth2CredentialId}`,
  'OAUTH2_CREDENTIAL_NOT_FOUND',
]
const gone = (what: string, id: keyof typeof ids) => () => missing(`${what} not found: ${ids[id]}`)

const notOfYours = () => invalid('wallet account not part of your organization')
const nothingToSignWith = () => missing('Could not find any resource to sign with.')
const targetPublicKey = generateP256KeyPair().publicKey
const digest = {
  payload: 'ab'.repeat(32),
  encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
  hashFunction: 'HASH_FUNCTION_NO_OP',
}

const noAuthenticator = () => [
  404,
  5,
  'webauthn authenticator not found in organization or parent organization',
  'CREDENTIAL_NOT_FOUND',
]

describe('tenants', () => {
  test.each<{ type: ActivityType; parameters: () => object; expected: () => unknown }>([
    { type: 'ACTIVITY_TYPE_UPDATE_USER', parameters: () => ({ userId: ids.userId }), expected: noUser },
    {
      type: 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2',
      parameters: () => ({ userId: ids.userId, authenticators: [createPasskey().register()] }),
      expected: noUser,
    },
    {
      type: 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS',
      parameters: () => ({ userId: other.userId, authenticatorIds: [ids.authenticatorId] }),
      expected: noAuthenticator,
    },
    {
      type: 'ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS',
      parameters: () => ({ userId: ids.userId, providerIds: [] }),
      expected: noUser,
    },
    {
      type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
      parameters: () => ({ userId: ids.userId, userName: 'x' }),
      expected: noUser,
    },
    {
      type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL',
      parameters: () => ({ userId: ids.userId, userEmail: 'x@acme.test' }),
      expected: noUser,
    },
    {
      type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER',
      parameters: () => ({ userId: ids.userId, userPhoneNumber: '+15550001111' }),
      expected: noUser,
    },
    { type: 'ACTIVITY_TYPE_DELETE_USERS', parameters: () => ({ userIds: [ids.userId] }), expected: noUser },
    {
      type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
      parameters: () => ({ users: [newUser({ userTags: [ids.userTagId] })] }),
      expected: gone('user tag', 'userTagId'),
    },
    {
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      parameters: () => ({ userTagName: 'x', userIds: [ids.userId] }),
      expected: noUser,
    },
    {
      type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
      parameters: () => ({ userTagId: ids.userTagId }),
      expected: gone('user tag', 'userTagId'),
    },
    {
      type: 'ACTIVITY_TYPE_DELETE_USER_TAGS',
      parameters: () => ({ userTagIds: [ids.userTagId] }),
      expected: gone('user tag', 'userTagId'),
    },
    {
      type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
      parameters: () => ({ userId: ids.userId, apiKeys: newUser().apiKeys }),
      expected: noUser,
    },
    {
      type: 'ACTIVITY_TYPE_DELETE_API_KEYS',
      parameters: () => ({ userId: other.userId, apiKeyIds: [ids.apiKeyId] }),
      expected: gone('api key', 'apiKeyId'),
    },
    {
      type: 'ACTIVITY_TYPE_UPDATE_POLICY_V2',
      parameters: () => ({ policyId: ids.policyId, policyEffect: 'EFFECT_ALLOW' }),
      expected: gone('policy', 'policyId'),
    },
    {
      type: 'ACTIVITY_TYPE_DELETE_POLICIES',
      parameters: () => ({ policyIds: [ids.policyId] }),
      expected: gone('policy', 'policyId'),
    },
    {
      type: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM',
      parameters: () => ({ threshold: 1, userIds: [ids.userId] }),
      expected: noUser,
    },
    {
      type: 'ACTIVITY_TYPE_UPDATE_WALLET',
      parameters: () => ({ walletId: ids.walletId, walletName: 'x' }),
      expected: gone('wallet', 'walletId'),
    },
    {
      type: 'ACTIVITY_TYPE_DELETE_WALLETS',
      parameters: () => ({ walletIds: [ids.walletId], deleteWithoutExport: true }),
      expected: gone('wallet', 'walletId'),
    },
    {
      type: 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS',
      parameters: () => ({ walletId: ids.walletId, accounts: [], persist: false }),
      expected: gone('wallet', 'walletId'),
    },
    {
      type: 'ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME',
      parameters: () => ({ walletAccountId: ids.walletAccountId, name: 'x' }),
      expected: notOfYours,
    },
    {
      type: 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
      parameters: () => ({ walletAccountIds: [ids.walletAccountId], deleteWithoutExport: true }),
      expected: notOfYours,
    },
    {
      type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2',
      parameters: () => ({ privateKeys: [newPrivateKey({ privateKeyTags: [ids.privateKeyTagId] })] }),
      expected: gone('private key tag', 'privateKeyTagId'),
    },
    {
      type: 'ACTIVITY_TYPE_DISABLE_PRIVATE_KEY',
      parameters: () => ({ privateKeyId: ids.privateKeyId }),
      expected: gone('private key', 'privateKeyId'),
    },
    {
      type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEYS',
      parameters: () => ({ privateKeyIds: [ids.privateKeyId], deleteWithoutExport: true }),
      expected: gone('private key', 'privateKeyId'),
    },
    ...(['address', 'publicKey', 'privateKeyId'] as const).map((by) => ({
      type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' as const,
      parameters: () => ({ signWith: ids[by], ...digest }),
      expected: nothingToSignWith,
    })),
    {
      type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS',
      parameters: () => ({ signWith: ids.address, ...digest, payloads: [digest.payload] }),
      expected: nothingToSignWith,
    },
    {
      type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
      parameters: () => ({ signWith: ids.address, type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: '00' }),
      expected: nothingToSignWith,
    },
    {
      type: 'ACTIVITY_TYPE_EXPORT_WALLET',
      parameters: () => ({ walletId: ids.walletId, targetPublicKey }),
      expected: gone('wallet', 'walletId'),
    },
    {
      type: 'ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT',
      parameters: () => ({ address: ids.address, targetPublicKey }),
      expected: () => missing(`Could not find wallet account with address: ${ids.address}`),
    },
    {
      type: 'ACTIVITY_TYPE_EXPORT_PRIVATE_KEY',
      parameters: () => ({ privateKeyId: ids.privateKeyId, targetPublicKey }),
      expected: gone('private key', 'privateKeyId'),
    },
    {
      type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG',
      parameters: () => ({ privateKeyTagName: 'x', privateKeyIds: [ids.privateKeyId] }),
      expected: gone('private key', 'privateKeyId'),
    },
    {
      type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
      parameters: () => ({ privateKeyTagId: ids.privateKeyTagId }),
      expected: gone('private key tag', 'privateKeyTagId'),
    },
    {
      type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS',
      parameters: () => ({ privateKeyTagIds: [ids.privateKeyTagId] }),
      expected: gone('private key tag', 'privateKeyTagId'),
    },
    {
      type: 'ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE',
      parameters: () => ({ smartContractInterfaceId: ids.smartContractInterfaceId }),
      expected: gone('smart contract interface', 'smartContractInterfaceId'),
    },
    {
      type: 'ACTIVITY_TYPE_CREATE_INVITATIONS',
      parameters: () => ({ invitations: [invitationFrom(ids.userId)] }),
      expected: noUser,
    },
    {
      type: 'ACTIVITY_TYPE_DELETE_INVITATION',
      parameters: () => ({ invitationId: ids.invitationId }),
      expected: gone('invitation', 'invitationId'),
    },
    {
      type: 'ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL',
      parameters: () => ({ oauth2CredentialId: ids.oauth2CredentialId, ...oauth2 }),
      expected: noCredential,
    },
    {
      type: 'ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL',
      parameters: () => ({ oauth2CredentialId: ids.oauth2CredentialId }),
      expected: noCredential,
    },
  ])('tenants: $type does not find what another organization has', async ({ type, parameters, expected }) => {
    const before = await service.root.query('get_organization')
    const { organizationId } = other
    expect(await refusalOf(other.client.submit(type, parameters(), { organizationId }))).toEqual(expected())
    expect(await service.root.query('get_organization')).toEqual(before)
  })

  test.each<{ name: QueryName; id: () => object; expected: () => unknown }>([
    { name: 'get_user', id: () => ({ userId: ids.userId }), expected: noUser },
    { name: 'get_api_keys', id: () => ({ userId: ids.userId }), expected: noUser },
    { name: 'get_authenticators', id: () => ({ userId: ids.userId }), expected: noUser },
    { name: 'get_api_key', id: () => ({ apiKeyId: ids.apiKeyId }), expected: gone('api key', 'apiKeyId') },
    { name: 'get_policy', id: () => ({ policyId: ids.policyId }), expected: gone('policy', 'policyId') },
    { name: 'get_wallet', id: () => ({ walletId: ids.walletId }), expected: gone('wallet', 'walletId') },
    {
      name: 'get_wallet_account',
      id: () => ({ walletId: ids.walletId, path: ethereum.path }),
      expected: gone('wallet', 'walletId'),
    },
    {
      name: 'get_private_key',
      id: () => ({ privateKeyId: ids.privateKeyId }),
      expected: gone('private key', 'privateKeyId'),
    },
    {
      name: 'get_smart_contract_interface',
      id: () => ({ smartContractInterfaceId: ids.smartContractInterfaceId }),
      expected: gone('smart contract interface', 'smartContractInterfaceId'),
    },
    {
      name: 'get_authenticator',
      id: () => ({ authenticatorId: ids.authenticatorId }),
      expected: noAuthenticator,
    },
    {
      name: 'get_oauth2_credential',
      id: () => ({ oauth2CredentialId: ids.oauth2CredentialId }),
      expected: noCredential,
    },
    { name: 'list_wallet_accounts', id: () => ({ walletId: ids.walletId }), expected: gone('wallet', 'walletId') },
  ])('tenants: $name does not find what another organization has', async ({ name, id, expected }) => {
    const { organizationId } = other
    expect(await refusalOf(other.client.query(name, { organizationId, ...id() }))).toEqual(expected())
  })

  test('tenants: names, keys and quorums of two organizations do not meet', async () => {
    const { organizationId, client } = other
    const policy = { policyName: 'p', effect: 'EFFECT_ALLOW' }
    await complete(client, 'ACTIVITY_TYPE_CREATE_POLICY_V3', policy, organizationId)
    const { user } = await service.root.query('get_user', { userId: ids.userId })
    const { publicKey } = user.apiKeys[0]!.credential
    const key = { apiKeyName: 'same', publicKey, curveType: 'API_KEY_CURVE_P256' }
    await complete(client, 'ACTIVITY_TYPE_CREATE_USERS_V4', { users: [newUser({ apiKeys: [key] })] }, organizationId)
    const { organizationData } = await client.query('get_organization', { organizationId })
    expect(organizationData.users.map(({ userName }) => userName)).toEqual(['tess', expect.any(String)])
    expect(organizationData.rootQuorum).toEqual({ threshold: 1, userIds: [other.userId] })
    expect(organizationData.wallets).toEqual([])
  })

  test('tenants: a sub-organization may have ten tags, and its parent reads them', async () => {
    const { organizationId, client } = await addTenant(service, { parentId: service.organizationId })
    for (let count = 0; count < 10; count++) {
      const tag = { userTagName: `t${count}`, userIds: [] }
      await complete(client, 'ACTIVITY_TYPE_CREATE_USER_TAG', tag, organizationId)
    }
    const eleventh = { userTagName: 't10', userIds: [] }
    const refusal = await refusalOf(client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', eleventh, { organizationId }))
    expect(refusal).toEqual([429, 8, 'organization has exceeded maximum tags (10)', ''])
    expect((await service.root.query('list_user_tags', { organizationId })).userTags).toHaveLength(10)
    expect((await service.root.query('whoami', { organizationId })).organizationId).toBe(service.organizationId)
    expect((await client.query('whoami')).organizationId).toBe(organizationId)
  })
})
