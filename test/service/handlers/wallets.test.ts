import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomBytes } from '../../../src/crypto/index.ts'
import type { ActivityType } from '../../../src/protocol/index.ts'
import { createTestClock, createTestUser, startTestService, type TestService } from '../harness.ts'
import { storedBytes } from '../rows.ts'
import {
  complete,
  exhausted,
  fresh,
  invalid,
  invalidField,
  missing,
  NOBODY,
  type Refusal,
  refusalOf,
  taken,
} from './steps.ts'

const clock = createTestClock()
/** While it is on, 24 words come from zeros alone: nothing else that a wallet draws is 32 bytes long. */
let zeros = false
const entropy = (length: number) => (zeros && length === 32 ? new Uint8Array(32) : randomBytes(length))
let service: TestService
let walletId: string
beforeAll(async () => {
  service = await startTestService({ clock, randomBytes: entropy })
  walletId = (await make({ accounts: [ethereum(0)] })).walletId
})
afterAll(() => service.close())

const account = (curve: string, path: string, format: string, overrides: object = {}) => ({
  curve: `CURVE_${curve}`,
  pathFormat: 'PATH_FORMAT_BIP32',
  path,
  addressFormat: `ADDRESS_FORMAT_${format}`,
  ...overrides,
})
const ethereum = (index: number, overrides: object = {}) =>
  account('SECP256K1', `m/44'/60'/0'/0/${index}`, 'ETHEREUM', overrides)
const solana = (index: number) => account('ED25519', `m/44'/501'/${index}'/0'`, 'SOLANA')
const make = (overrides: object = {}) =>
  complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET', { walletName: fresh('wallet'), accounts: [], ...overrides })
const makeZero = async (overrides: object) => {
  zeros = true
  return make({ mnemonicLength: 24, ...overrides }).finally(() => {
    zeros = false
  })
}
const derive = (of: string, accounts: object[], overrides: object = {}) =>
  complete(service.root, 'ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', { walletId: of, accounts, ...overrides })
const accountsOf = async (of: string) =>
  (await service.root.query('list_wallet_accounts', { walletId: of, paginationOptions: { limit: '100' } })).accounts

describe('create_wallet', () => {
  test('create_wallet: the wallet of all-zero entropy has the addresses that every other wallet gives it', async () => {
    const accounts = [
      ethereum(0, { name: 'first' }),
      solana(0),
      account('SECP256K1', "m/84'/0'/0'/0/0", 'BITCOIN_MAINNET_P2WPKH'),
    ]
    const made = await makeZero({ walletName: 'zero', accounts })
    // `abandon` 23 times and `art`, as published wallets derive it.
    expect(made.addresses[0]).toBe('0xF278cF59F82eDcf871d630F28EcC8056f25C1cdb')
    const now = { seconds: '1750000000', nanos: '0' }
    const wallet = { walletName: 'zero', createdAt: now, updatedAt: now, exported: false, imported: false }
    expect((await service.root.query('get_wallet', { walletId: made.walletId })).wallet).toEqual({
      walletId: made.walletId,
      ...wallet,
    })
    const listed = await accountsOf(made.walletId)
    expect(listed.map(({ address }) => address)).toEqual(made.addresses)
    expect(listed[0]).toEqual({
      walletAccountId: expect.any(String),
      organizationId: service.organizationId,
      walletId: made.walletId,
      ...accounts[0],
      address: made.addresses[0],
      publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
      caip2Prefix: 'eip155',
      createdAt: now,
      updatedAt: now,
      walletDetails: { walletId: made.walletId, ...wallet },
    })
    expect(listed[1]).toMatchObject({ publicKey: expect.stringMatching(/^[0-9a-f]{64}$/), caip2Prefix: 'solana' })
    expect(listed[2]).not.toHaveProperty('caip2Prefix')
  })

  test('create_wallet: the id has version 5 and comes from the content: the same words are the same wallet', async () => {
    const { wallets } = await service.root.query('list_wallets')
    const zero = wallets.find(({ walletName }) => walletName === 'zero')!
    expect(zero.walletId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    await complete(service.root, 'ACTIVITY_TYPE_DELETE_WALLETS', {
      walletIds: [zero.walletId],
      deleteWithoutExport: true,
    })
    expect((await makeZero({ walletName: 'zero again' })).walletId).toBe(zero.walletId)
  })

  test('create_wallet: no mnemonic is kept in clear', async () => {
    const stored = await storedBytes(service.dataDir)
    expect(stored.includes('zero again')).toBe(true)
    expect(stored.includes('abandon')).toBe(false)
  })

  test.each([0, 12, 15, 18, 21])('create_wallet: a mnemonic of %i words can be had', async (mnemonicLength) => {
    expect((await make({ mnemonicLength, accounts: [ethereum(0)] })).addresses).toHaveLength(1)
  })

  test('create_wallet: two wallets may have one name, and list in the order of their creation', async () => {
    const [first, second] = [await make({ walletName: 'same' }), await make({ walletName: 'same' })]
    const { wallets } = await service.root.query('list_wallets')
    expect(wallets.slice(-2).map((row) => row.walletId)).toEqual([first.walletId, second.walletId])
  })

  const refusals: { name: string; accounts: object[]; expected: Refusal }[] = [
    { name: 'a path that is none', accounts: [ethereum(0, { path: '44/60' })], expected: invalid('invalid path') },
    { name: 'a path twice', accounts: [ethereum(0), ethereum(0)], expected: invalid('invalid path') },
    {
      name: 'a path in two spellings',
      accounts: [ethereum(0), ethereum(0, { path: 'm/44h/60H/0h/0/0' })],
      expected: invalid('invalid path'),
    },
    {
      name: 'a format that does not fit the curve',
      accounts: [ethereum(0, { curve: 'CURVE_ED25519' })],
      expected: invalid('invalid address format'),
    },
    {
      name: 'an unknown address format',
      accounts: [ethereum(0, { addressFormat: 'ADDRESS_FORMAT_PONY' })],
      expected: invalid('invalid address format'),
    },
    { name: 'an unknown curve', accounts: [ethereum(0, { curve: 'CURVE_PONY' })], expected: invalid('invalid curve') },
    {
      name: 'an unknown path format',
      accounts: [ethereum(0, { pathFormat: 'PATH_FORMAT_PONY' })],
      expected: invalid('invalid path format'),
    },
  ]
  test.each(refusals)('create_wallet: $name is refused, and no wallet is made', async ({ accounts, expected }) => {
    const before = await service.root.query('list_wallets')
    const wallet = { walletName: 'x', accounts }
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', wallet))).toEqual(expected)
    expect(await service.root.query('list_wallets')).toEqual(before)
  })
  test.each(refusals)('create_wallet_accounts: $name is refused', async ({ accounts, expected }) => {
    const sent = service.root.submit('ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', { walletId, accounts })
    expect(await refusalOf(sent)).toEqual(expected)
  })

  test('create_wallet: a mnemonic of thirteen words is refused', async () => {
    const wallet = { walletName: 'x', accounts: [], mnemonicLength: 13 }
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', wallet))).toEqual(
      invalidField('mnemonicLength', 'must be one of 12, 15, 18, 21, 24'),
    )
  })
})

describe('create_wallet_accounts', () => {
  test('create_wallet_accounts: accounts are added after those that are there, all wallets in one order', async () => {
    const { walletId: of, addresses } = await make({ accounts: [ethereum(0)] })
    const more = await derive(of, [ethereum(2), ethereum(1)])
    expect((await accountsOf(of)).map(({ address }) => address)).toEqual([...addresses, ...more.addresses])
  })

  test('create_wallet_accounts: with persist false the same address comes back and nothing is kept', async () => {
    const { walletId: of } = await make()
    const seen = await derive(of, [ethereum(5)], { persist: false })
    expect(await accountsOf(of)).toEqual([])
    expect(await derive(of, [ethereum(5)])).toEqual(seen)
    expect(await derive(of, [ethereum(5)], { persist: false })).toEqual(seen)
  })

  test('create_wallet_accounts: one path may stand once for each address format', async () => {
    const { walletId: of } = await make({ accounts: [ethereum(0)] })
    const other = ethereum(0, { addressFormat: 'ADDRESS_FORMAT_COMPRESSED' })
    expect((await derive(of, [other])).addresses[0]).toMatch(/^0[23]/)
    for (const path of ["m/44'/60'/0'/0/0", 'm/44h/60h/0h/0/0']) {
      const again = { walletId: of, accounts: [ethereum(1), ethereum(0, { path })] }
      expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', again))).toEqual(
        taken(`path already exists in wallet account ${of}`),
      )
    }
    expect(await accountsOf(of)).toHaveLength(2)
  })

  test('create_wallet_accounts: an unknown wallet is refused', async () => {
    const given = { walletId: NOBODY, accounts: [ethereum(0)] }
    expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', given))).toEqual(
      missing(`wallet not found: ${NOBODY}`),
    )
  })
})

describe('wallets', () => {
  test('wallets: wallet and account are renamed, and an absent name stays', async () => {
    const { walletId: of } = await make({ accounts: [ethereum(0)] })
    const { walletAccountId } = (await accountsOf(of))[0]!
    expect(await complete(service.root, 'ACTIVITY_TYPE_UPDATE_WALLET', { walletId: of, walletName: 'new' })).toEqual({
      walletId: of,
    })
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_WALLET', { walletId: of })
    const name = { walletAccountId, name: 'hot' }
    expect(await complete(service.root, 'ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME', name)).toEqual({ walletAccountId })
    expect((await accountsOf(of))[0]).toMatchObject({ name: 'hot', walletDetails: { walletName: 'new' } })
  })

  test('wallets: accounts and wallets go, accounts with their wallet', async () => {
    const { walletId: of } = await make({ accounts: [ethereum(0), ethereum(1), ethereum(2)] })
    const [first, second] = (await accountsOf(of)).map((row) => row.walletAccountId)
    const walletAccountIds = [second!, first!]
    const without = { deleteWithoutExport: true }
    expect(
      await complete(service.root, 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS', { walletAccountIds, ...without }),
    ).toEqual({ walletAccountIds })
    expect(await accountsOf(of)).toHaveLength(1)
    await derive(of, [ethereum(0)])
    const walletIds = [of]
    expect(await complete(service.root, 'ACTIVITY_TYPE_DELETE_WALLETS', { walletIds, ...without })).toEqual({
      walletIds,
    })
    expect(await refusalOf(accountsOf(of))).toEqual(missing(`wallet not found: ${of}`))
    const { accounts } = await service.root.query('list_wallet_accounts', { paginationOptions: { limit: '100' } })
    expect(accounts.filter((row) => row.walletId === of)).toEqual([])
  })

  const notExported: Refusal = [400, 3, 'wallet account has not been exported', 'WALLET_ACCOUNT_NOT_EXPORTED']
  test.each<{ name: string; type: ActivityType; parameters: () => Promise<object> | object; expected: () => Refusal }>([
    {
      name: 'renaming an unknown wallet',
      type: 'ACTIVITY_TYPE_UPDATE_WALLET',
      parameters: () => ({ walletId: NOBODY, walletName: 'x' }),
      expected: () => missing(`wallet not found: ${NOBODY}`),
    },
    {
      name: 'renaming an unknown account',
      type: 'ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME',
      parameters: () => ({ walletAccountId: NOBODY, name: 'x' }),
      expected: () => invalid('wallet account not part of your organization'),
    },
    {
      name: 'renaming what has no id',
      type: 'ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME',
      parameters: () => ({ walletAccountId: 'first', name: 'x' }),
      expected: () => invalid('invalid wallet account UUID'),
    },
    {
      name: 'deleting a wallet that was never exported',
      type: 'ACTIVITY_TYPE_DELETE_WALLETS',
      parameters: () => ({ walletIds: [walletId] }),
      expected: () => notExported,
    },
    {
      name: 'deleting an unknown wallet among others',
      type: 'ACTIVITY_TYPE_DELETE_WALLETS',
      parameters: () => ({ walletIds: [walletId, NOBODY], deleteWithoutExport: true }),
      expected: () => missing(`wallet not found: ${NOBODY}`),
    },
    {
      name: 'deleting a wallet twice',
      type: 'ACTIVITY_TYPE_DELETE_WALLETS',
      parameters: () => ({ walletIds: [walletId, walletId], deleteWithoutExport: true }),
      expected: () => invalidField('walletIds', `must not mention \`${walletId}\` twice`),
    },
    {
      name: 'deleting an account that was never exported',
      type: 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
      parameters: async () => ({ walletAccountIds: [(await accountsOf(walletId))[0]!.walletAccountId] }),
      expected: () => notExported,
    },
    {
      name: 'deleting an unknown account',
      type: 'ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS',
      parameters: () => ({ walletAccountIds: [NOBODY], deleteWithoutExport: true }),
      expected: () => invalid('wallet account not part of your organization'),
    },
  ])('wallets: $name is refused, and nothing is gone', async ({ type, parameters, expected }) => {
    const before = await accountsOf(walletId)
    expect(await refusalOf(service.root.submit(type, await parameters()))).toEqual(expected())
    expect(await accountsOf(walletId)).toEqual(before)
  })

  test('wallets: a policy sees which wallets are to be deleted', async () => {
    const bob = await createTestUser(service, 'bob')
    await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'bob clears up',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${bob.userId}')`,
      condition:
        "activity.kind == 'DELETE_WALLETS' && wallets.all(wallet, wallet.label == 'scrap' && !wallet.imported)",
    })
    const [scrap, kept] = [await make({ walletName: 'scrap' }), await make({ walletName: 'kept' })]
    const remove = (...walletIds: string[]) =>
      bob.client.submit('ACTIVITY_TYPE_DELETE_WALLETS', { walletIds, deleteWithoutExport: true })
    expect((await refusalOf(remove(scrap.walletId, kept.walletId))).slice(0, 2)).toEqual([403, 7])
    expect((await remove(scrap.walletId)).status).toBe('ACTIVITY_STATUS_COMPLETED')
  })
})

test('wallets: deleting one that goes meanwhile can still be voted down, and fails when approved', async () => {
  const [dan, eve] = [await createTestUser(service, 'dan'), await createTestUser(service, 'eve')]
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: 'two delete wallets',
    effect: 'EFFECT_ALLOW',
    consensus: 'approvers.count() >= 2',
    condition: "activity.kind == 'DELETE_WALLETS'",
  })
  const { walletId: of } = await make()
  const remove = () => ({ walletIds: [of], deleteWithoutExport: true })
  const waiting = [
    await dan.client.submit('ACTIVITY_TYPE_DELETE_WALLETS', remove()),
    await dan.client.submit('ACTIVITY_TYPE_DELETE_WALLETS', remove()),
  ]
  await complete(service.root, 'ACTIVITY_TYPE_DELETE_WALLETS', remove())
  expect((await eve.client.reject(waiting[0]!.fingerprint)).status).toBe('ACTIVITY_STATUS_REJECTED')
  const failed = await eve.client.approve(waiting[1]!.fingerprint)
  expect([failed.status, failed.failure?.message]).toEqual(['ACTIVITY_STATUS_FAILED', `wallet not found: ${of}`])
})

test('wallets: the hundred and first is refused', async () => {
  const { length } = (await service.root.query('list_wallets')).wallets
  for (let count = length; count < 100; count++) await make()
  const wallet = { walletName: 'x', accounts: [] }
  expect(await refusalOf(service.root.submit('ACTIVITY_TYPE_CREATE_WALLET', wallet))).toEqual(
    exhausted('organization has exceeded maximum wallets (100)'),
  )
})
