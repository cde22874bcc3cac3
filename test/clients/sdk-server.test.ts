/** The published server SDK against this service: nothing is changed but the base URL. */
import { Turnkey, type TurnkeyApiClient, TurnkeyRequestError } from '@turnkey/sdk-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { createTestUser, startTestService, type TestClient, type TestService } from '../service/harness.ts'
import { recordOperations } from './operations.ts'

let service: TestService
let sdk: TurnkeyApiClient
beforeAll(async () => {
  service = await startTestService()
  sdk = published(service.root)
})
afterAll(() => service.close())

function published(key: Pick<TestClient, 'publicKey' | 'privateKey'>): TurnkeyApiClient {
  return new Turnkey({
    apiBaseUrl: service.url,
    apiPublicKey: key.publicKey,
    apiPrivateKey: key.privateKey,
    defaultOrganizationId: service.organizationId,
    activityPoller: { intervalMs: 1, numRetries: 1 },
  }).apiClient()
}

const newKey = (publicKey = generateP256KeyPair().publicKey) => ({
  apiKeyName: 'k',
  publicKey,
  curveType: 'API_KEY_CURVE_P256' as const,
})
const ethereum = {
  curve: 'CURVE_SECP256K1' as const,
  pathFormat: 'PATH_FORMAT_BIP32' as const,
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM' as const,
}

describe('server SDK', () => {
  test('server SDK: results stand beside the activity that gave them', async () => {
    const users = [{ userName: 'ann', apiKeys: [newKey()], authenticators: [], oauthProviders: [], userTags: [] }]
    const { userIds, activity } = await sdk.createUsers({ users })
    expect(activity).toMatchObject({ status: 'ACTIVITY_STATUS_COMPLETED' })
    expect((await sdk.getUser({ userId: userIds[0]! })).user.userName).toBe('ann')
    const policy = { policyName: 'p', effect: 'EFFECT_ALLOW' as const, condition: 'true', consensus: 'true', notes: '' }
    const { policyId } = await sdk.createPolicy(policy)
    expect((await sdk.getPolicy({ policyId })).policy).toMatchObject(policy)
    await sdk.deletePolicy({ policyId })
    const { walletId, addresses } = await sdk.createWallet({ walletName: 'w', accounts: [ethereum] })
    const { accounts } = await sdk.getWalletAccounts({ walletId, paginationOptions: { limit: '100' } })
    expect(accounts.map(({ address }) => address)).toEqual(addresses)
  })

  test('server SDK: a sub-organization with a wallet, found by what is in it', async () => {
    const key = generateP256KeyPair()
    const user = { userName: 'customer', userEmail: 'c@acme.test', authenticators: [], oauthProviders: [] }
    const { subOrganizationId, wallet, rootUserIds } = await sdk.createSubOrganization({
      subOrganizationName: 'customer-1',
      rootUsers: [{ ...user, apiKeys: [newKey(key.publicKey)] }],
      rootQuorumThreshold: 1,
      wallet: { walletName: 'w', accounts: [ethereum] },
    })
    for (const [filterType, filterValue] of [
      ['EMAIL', 'c@acme.test'],
      ['PUBLIC_KEY', key.publicKey],
      ['WALLET_ACCOUNT_ADDRESS', wallet!.addresses[0]!],
    ] as const) {
      expect(await sdk.getSubOrgIds({ filterType, filterValue })).toMatchObject({
        organizationIds: [subOrganizationId],
      })
    }
    const inside = published(key)
    expect(await inside.getWhoami()).toMatchObject({ organizationId: subOrganizationId, userId: rootUserIds![0] })
    const { wallets } = await sdk.getWallets({ organizationId: subOrganizationId })
    expect(wallets.map(({ walletId }) => walletId)).toEqual([wallet!.walletId])
    const writing = sdk.createWallet({ organizationId: subOrganizationId, walletName: 'x', accounts: [] })
    await expect(writing).rejects.toThrow(/^Turnkey error 3: organization mismatch: .*ORGANIZATION_MISMATCH/)
    await inside.createWallet({ organizationId: subOrganizationId, walletName: 'x', accounts: [] })
  })

  test('server SDK: what waits for consensus comes back waiting, and the approver gets the result', async () => {
    const ada = await createTestUser(service, 'ada')
    const bob = await createTestUser(service, 'bob')
    await sdk.createPolicy({
      policyName: 'two people',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${ada.userId}') && approvers.any(user, user.id == '${bob.userId}')`,
      condition: "activity.resource == 'WALLET' && activity.action == 'CREATE'",
      notes: '',
    })
    const waiting = await published(ada.client).createWallet({ walletName: 'shared', accounts: [ethereum] })
    expect(waiting.activity).toMatchObject({ status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', result: {} })
    const { fingerprint, id } = waiting.activity
    const approved = await published(bob.client).approveActivity({ fingerprint })
    expect(approved.activity).toMatchObject({ id, status: 'ACTIVITY_STATUS_COMPLETED' })
    const { walletId } = approved.activity.result.createWalletResult!
    expect((await sdk.getWallet({ walletId })).wallet.walletName).toBe('shared')
  })

  test('server SDK: a refusal is its error', async () => {
    const error = await sdk.getWallet({ walletId: service.organizationId }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TurnkeyRequestError)
    expect((error as Error).message).toBe(`Turnkey error 5: wallet not found: ${service.organizationId} (Details: [])`)
  })
})

recordOperations('sdk-server')
