import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QueryName, Wire } from '../../../src/protocol/index.ts'
import {
  complete,
  fresh,
  invalidField,
  makeUser,
  missing,
  NOBODY,
  newKey,
  type Refusal,
  refusalOf,
} from '../handlers/steps.ts'
import { createTestUser, startTestService, type TestService } from '../harness.ts'

const ethereum = (index: number) => ({
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: `m/44'/60'/0'/0/${index}`,
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
})
let service: TestService
let walletId: string
let addresses: readonly string[]
beforeAll(async () => {
  service = await startTestService()
  const accounts = Array.from({ length: 25 }, (_, index) => ethereum(index))
  const wallet = { walletName: 'many', accounts }
  ;({ walletId, addresses } = await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET', wallet))
})
afterAll(() => service.close())

describe('list_wallet_accounts', () => {
  const page = async (paginationOptions?: object, more: object = {}): Promise<readonly Wire.WalletAccount[]> => {
    const request = { ...(paginationOptions && { paginationOptions }), ...more }
    return (await service.root.query('list_wallet_accounts', request)).accounts
  }
  const show = (accounts: readonly Wire.WalletAccount[]) => accounts.map(({ address }) => addresses.indexOf(address))
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

  test('list_wallet_accounts: oldest first, ten unless more are asked for', async () => {
    expect(show(await page())).toEqual(range(0, 10))
    expect(show(await page({ limit: '100' }))).toEqual(range(0, 25))
  })

  test('list_wallet_accounts: after means later, before means earlier, neither includes the one named', async () => {
    const all = await page({ limit: '100' })
    const id = (index: number) => all[index]!.walletAccountId
    expect(show(await page({ limit: '3', after: id(9) }))).toEqual([10, 11, 12])
    expect(show(await page({ limit: '3', before: id(9) }))).toEqual([6, 7, 8])
    expect(show(await page({ limit: '100', after: id(3), before: id(7) }))).toEqual([4, 5, 6])
    expect(show(await page({ after: id(24) }))).toEqual([])
    expect(show(await page({ before: id(0) }))).toEqual([])
  })

  test('list_wallet_accounts: pages of any size, one after the other, are the whole list', async () => {
    for (const limit of [1, 7, 24, 25, 26]) {
      const seen: Wire.WalletAccount[] = []
      for (;;) {
        const after = seen.at(-1)?.walletAccountId
        const accounts = await page({ limit: String(limit), ...(after && { after }) })
        seen.push(...accounts)
        if (accounts.length < limit) break
      }
      expect(show(seen)).toEqual(range(0, 25))
    }
  })

  test('list_wallet_accounts: entries carry their wallet unless that is declined', async () => {
    const [entry] = await page({ limit: '1' })
    expect(entry!.walletDetails).toMatchObject({ walletId, walletName: 'many' })
    const [bare] = await page({ limit: '1' }, { includeWalletDetails: false })
    expect(bare).not.toHaveProperty('walletDetails')
  })

  test('list_wallet_accounts: without a wallet those of all wallets', async () => {
    const other = await complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET', {
      walletName: 'other',
      accounts: [ethereum(0)],
    })
    expect((await page({ limit: '100' })).map(({ address }) => address)).toEqual([...addresses, ...other.addresses])
    expect((await page({ limit: '100' }, { walletId: other.walletId })).map((row) => row.address)).toEqual(
      other.addresses,
    )
    const gone = { walletIds: [other.walletId], deleteWithoutExport: true }
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_WALLETS', gone)
  })

  test.each<{ name: string; paginationOptions: object; expected: Refusal }>([
    {
      name: 'a limit of zero',
      paginationOptions: { limit: '0' },
      expected: invalidField('paginationOptions.limit', 'must be from 1 to 100'),
    },
    {
      name: 'a limit above a hundred',
      paginationOptions: { limit: '101' },
      expected: invalidField('paginationOptions.limit', 'must be from 1 to 100'),
    },
    {
      name: 'a cursor that is nothing',
      paginationOptions: { after: NOBODY },
      expected: invalidField('paginationOptions', `names no object of this list: \`${NOBODY}\``),
    },
  ])('list_wallet_accounts: $name is refused', async ({ paginationOptions, expected }) => {
    expect(await refusalOf(page(paginationOptions))).toEqual(expected)
  })
})

describe('get_wallet_account', () => {
  test.each<{ name: string; by: () => object }>([
    { name: 'its path', by: () => ({ path: "m/44'/60'/0'/0/7" }) },
    { name: 'its path in another spelling', by: () => ({ path: 'm/44h/60H/0h/0/7' }) },
    { name: 'its address', by: () => ({ address: addresses[7] }) },
    { name: 'its address in lower case', by: () => ({ address: addresses[7]!.toLowerCase() }) },
    { name: 'both', by: () => ({ address: addresses[7], path: "m/44'/60'/0'/0/7" }) },
  ])('get_wallet_account: an account is found by $name', async ({ by }) => {
    const { account } = await service.root.query('get_wallet_account', { walletId, ...by() })
    expect(account).toMatchObject({ path: "m/44'/60'/0'/0/7", address: addresses[7] })
  })

  test.each<{ name: string; by: () => object; expected: () => Refusal }>([
    {
      name: 'an unknown address',
      by: () => ({ address: '0xabc' }),
      expected: () => missing('Could not find wallet account with address: 0xabc'),
    },
    {
      name: 'an unknown path',
      by: () => ({ path: "m/44'/60'/9'" }),
      expected: () => missing("wallet account not found: m/44'/60'/9'"),
    },
    {
      name: 'an address and the path of another',
      by: () => ({ address: addresses[0], path: "m/44'/60'/0'/0/1" }),
      expected: () => missing(`Could not find wallet account with address: ${addresses[0]}`),
    },
    {
      name: 'an unknown wallet',
      by: () => ({ walletId: NOBODY, path: 'm/0' }),
      expected: () => missing(`wallet not found: ${NOBODY}`),
    },
    {
      name: 'neither address nor path',
      by: () => ({}),
      expected: () => [400, 3, 'invalid request body: missing field `address`', 'REQUEST_INVALID'],
    },
  ])('get_wallet_account: $name is refused', async ({ by, expected }) => {
    expect(await refusalOf(service.root.query('get_wallet_account', { walletId, ...by() }))).toEqual(expected())
  })
})

describe('reads', () => {
  test('reads: whoami names the caller', async () => {
    const bob = await createTestUser(service, 'bob')
    expect(await bob.client.query('whoami')).toEqual({
      organizationId: service.organizationId,
      organizationName: 'quorate',
      userId: bob.userId,
      username: 'bob',
    })
  })

  test('reads: get_organization says what the other queries say', async () => {
    const { root } = service
    const userId = await makeUser(root)
    await complete(root, 'ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: fresh('tag'), userIds: [userId] })
    await complete(root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', { policyName: fresh('p'), effect: 'EFFECT_ALLOW' })
    await complete(root, 'ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_SMS_AUTH', value: 'x' })
    const { configs } = await root.query('get_organization_configs')
    expect((await root.query('get_organization')).organizationData).toEqual({
      organizationId: service.organizationId,
      name: 'quorate',
      users: (await root.query('list_users')).users,
      policies: (await root.query('list_policies')).policies,
      tags: (await root.query('list_user_tags')).userTags,
      wallets: (await root.query('list_wallets')).wallets,
      rootQuorum: configs!.quorum,
      features: configs!.features,
      privateKeys: [],
      invitations: [],
      smartContractInterfaceReferences: [],
    })
  })

  test('reads: get_api_keys gives those of one user, or of everybody in the order of their creation', async () => {
    const userId = await makeUser(service.root, { apiKeys: [newKey(), newKey({ expirationSeconds: '60' })] })
    const { apiKeys: own } = await service.root.query('get_api_keys', { userId })
    const { user } = await service.root.query('get_user', { userId })
    expect(own).toEqual(user.apiKeys)
    expect(own.map((key) => key.expirationSeconds)).toEqual([undefined, '60'])
    const { apiKeys } = await service.root.query('get_api_keys')
    const { users } = await service.root.query('list_users')
    expect(apiKeys.slice(-2)).toEqual(own)
    expect(apiKeys.map(({ apiKeyId }) => apiKeyId)).toEqual(
      users.flatMap((each) => each.apiKeys.map(({ apiKeyId }) => apiKeyId)),
    )
  })

  const noUser = () => missing(`unable to find user ${NOBODY} in organization ${service.organizationId}`)
  test.each<{ name: QueryName; request: object; expected: () => Refusal }>([
    { name: 'get_user', request: { userId: NOBODY }, expected: noUser },
    { name: 'get_api_keys', request: { userId: NOBODY }, expected: noUser },
    { name: 'get_authenticators', request: { userId: NOBODY }, expected: noUser },
    { name: 'get_oauth_providers', request: { userId: NOBODY }, expected: noUser },
    { name: 'get_mfa_policies', request: { userId: NOBODY }, expected: noUser },
    { name: 'get_api_key', request: { apiKeyId: NOBODY }, expected: () => missing(`api key not found: ${NOBODY}`) },
    { name: 'get_policy', request: { policyId: NOBODY }, expected: () => missing(`policy not found: ${NOBODY}`) },
    { name: 'get_wallet', request: { walletId: NOBODY }, expected: () => missing(`wallet not found: ${NOBODY}`) },
    {
      name: 'list_wallet_accounts',
      request: { walletId: NOBODY },
      expected: () => missing(`wallet not found: ${NOBODY}`),
    },
    {
      name: 'get_mfa_status',
      request: { activityId: NOBODY },
      expected: () => missing(`activity not found: ${NOBODY}`),
    },
    {
      name: 'list_suborgs',
      request: { paginationOptions: { limit: '1000' } },
      expected: () => invalidField('paginationOptions.limit', 'must be from 1 to 100'),
    },
  ])('reads: $name refuses what is not there', async ({ name, request, expected }) => {
    expect(await refusalOf(service.root.query(name, request))).toEqual(expected())
  })

  test('reads: get_ip_allowlist says that there is no list, of the organization or of a key', async () => {
    const { organizationId } = service
    expect(await service.root.query('get_ip_allowlist')).toEqual({
      allowlist: { organizationId, rules: [], enabled: false },
    })
    expect(await service.root.query('get_ip_allowlist', { publicKey: '02ab' })).toEqual({
      allowlist: { organizationId, rules: [], publicKey: '02ab' },
    })
  })
})
