import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Wire } from '../../../src/protocol/index.ts'
import { addTenant, complete, invalid, makePrivateKey, missing, refusalOf } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { type Anvil, startAnvil } from '../sends/anvil.ts'
import { placeGasStation } from '../sends/gas-station.ts'
import { SEPOLIA, untilEnded } from '../sends/status.ts'
import { placeToken } from '../sends/token.ts'
import { ETHEREUM, makeWallet } from '../signing/keys.ts'

const RECEIVER = '0x00000000000000000000000000000000000000b0'
const WALLET = '0x00000000000000000000000000000000000000c0'
const COIN = '0x000000000000000000000000000000000000c011'
/** Reverts whatever it is asked. */
const WALL = '0x0000000000000000000000000000000000dead01'

let anvil: Anvil
let service: TestService
let from: string
let other: string
beforeAll(async () => {
  anvil = await startAnvil()
  await anvil.rpc('anvil_setCode', WALL, '0x5f5ffd')
  const token = await placeToken(anvil, COIN)
  const { url } = anvil
  service = await startTestService({
    chains: { [SEPOLIA]: { url, pollMs: 50, usdPrice: '2000' }, 'eip155:4217': { url } },
  })
  const { accounts } = await makeWallet(service.root, ETHEREUM, [ETHEREUM[0], ETHEREUM[1], "m/44'/60'/0'/0/1"])
  ;[from, other] = accounts.map(({ address }) => address) as [string, string]
  await anvil.fund(from, 100)
  await anvil.fund(other, 100)
  await token.give(from, 5_000_000n)
})
afterAll(async () => {
  await service.close()
  await anvil.kill()
})

async function send(parameters: object): Promise<string> {
  const result = await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', {
    from,
    caip2: SEPOLIA,
    to: RECEIVER,
    ...parameters,
  })
  return (await untilEnded(service.root, result.sendTransactionStatusId)).eth!.txHash!
}
const history = (request: object = {}) =>
  service.root.query('list_eth_transaction_history', { address: from, caip2: SEPOLIA, ...request })
const hashes = async (request: object = {}) =>
  (await history(request)).transactions.map(({ transactionHash }) => transactionHash)
const ether = { caip19: `${SEPOLIA}/slip44:60`, symbol: 'ETH', name: 'Ether', decimals: 18 }
const coin = { caip19: `${SEPOLIA}/erc20:${COIN}`, symbol: 'COIN', name: 'A coin', decimals: 6 }
const moved = (direction: 'IN' | 'OUT', counterparty: string, amount: bigint, asset: typeof ether, crypto: string) => ({
  direction,
  counterparty,
  amount: amount.toString(),
  asset,
  display: { crypto },
})

describe('list_eth_transaction_history', () => {
  test('before anything was sent there is none', async () => {
    expect(await history()).toEqual({ transactions: [], pageInfo: { hasNextPage: false, hasPreviousPage: false } })
  })

  test('what was sent is told with its block, its fee, what it moved and the activity that asked for it', async () => {
    const hash = await send({ value: '1500000000000000000' })
    const [transaction] = (await history({ address: from.toLowerCase() })).transactions
    const receipt = await anvil.rpc<Record<'blockNumber' | 'blockHash' | 'gasUsed' | 'effectiveGasPrice', string>>(
      'eth_getTransactionReceipt',
      hash,
    )
    const block = await anvil.rpc<{ timestamp: string }>('eth_getBlockByHash', receipt.blockHash, false)
    const { activities } = await service.root.query('list_activities')
    expect(transaction).toEqual({
      transactionHash: hash,
      block: {
        number: Number(receipt.blockNumber).toString(),
        hash: receipt.blockHash,
        timestamp: `${new Date(Number(block.timestamp) * 1000).toISOString().slice(0, 19)}Z`,
      },
      status: 'CONFIRMED',
      origin: 'TURNKEY',
      from: from.toLowerCase(),
      to: RECEIVER,
      fee: {
        amount: (BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)).toString(),
        caip19: ether.caip19,
      },
      transfers: [moved('OUT', RECEIVER, 1_500_000_000_000_000_000n, ether, '1.5')],
      turnkey: {
        sponsored: false,
        activityFingerprint: activities[0]!.fingerprint,
        submittedAt: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    } satisfies Wire.EthTransactionHistoryItem)
  })

  test('it is final when enough blocks stand upon it', async () => {
    const statusOf = async () => (await history()).transactions[0]!.status
    await anvil.rpc('anvil_mine', '0xa')
    expect(await statusOf()).toBe('CONFIRMED')
    await anvil.rpc('anvil_mine', '0x1')
    expect(await statusOf()).toBe('FINALIZED')
  })

  test('tokens that moved are told by what they say of themselves', async () => {
    const word = (hex: string) => hex.replace(/^0x/, '').toLowerCase().padStart(64, '0')
    await send({ to: COIN, data: `0xa9059cbb${word(RECEIVER)}${word((1_250_000).toString(16))}` })
    expect((await history()).transactions[0]).toMatchObject({
      to: COIN,
      transfers: [moved('OUT', RECEIVER, 1_250_000n, coin, '1.25')],
    })
  })

  test('what was reverted cost its fee and moved nothing', async () => {
    const transactionHash = await send({ to: WALL, value: '1', gasLimit: '50000' })
    expect((await history()).transactions[0]).toMatchObject({ transactionHash, transfers: [] })
  })

  test('pages go through it from the newest on, and back', async () => {
    const [third, second, first] = await hashes()
    const newest = await history({ paginationOptions: { limit: '2' } })
    expect(newest.transactions.map(({ transactionHash }) => transactionHash)).toEqual([third, second])
    expect(newest.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false })
    const after = newest.pageInfo!.endCursor
    const oldest = await history({ paginationOptions: { limit: '2', after } })
    expect(oldest.transactions.map(({ transactionHash }) => transactionHash)).toEqual([first])
    expect(oldest.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
    const before = oldest.pageInfo!.startCursor
    expect(await hashes({ paginationOptions: { limit: '1', before } })).toEqual([second])
    expect(await hashes({ paginationOptions: { before } })).toEqual([third, second])
    const unknown = refusalOf(history({ paginationOptions: { after: 'x' } }))
    expect(await unknown).toEqual(
      invalid('invalid request body: field `paginationOptions` names no object of this list: `x`'),
    )
  })

  test('each address has its own, and what is no wallet’s address has none', async () => {
    await send({ from: other, to: from, value: '1' })
    expect(await hashes({ address: other })).toHaveLength(1)
    expect(await hashes()).toHaveLength(3)
    expect(await refusalOf(history({ address: RECEIVER }))).toEqual(
      missing(`Could not find wallet account with address: ${RECEIVER}`),
    )
    const privateKeyId = await makePrivateKey(service.root)
    const { privateKey } = await service.root.query('get_private_key', { privateKeyId })
    const { address } = privateKey.addresses.find(({ format }) => format === 'ADDRESS_FORMAT_ETHEREUM')!
    expect((await refusalOf(history({ address })))[0]).toBe(404)
  })

  test.each([
    ['a chain without a node', 'eip155:1', 'a query of chain eip155:1 (no node is set for it)'],
    [
      'one whose fees are paid in tokens',
      'eip155:4217',
      'a history of chain eip155:4217 (fees have no currency there)',
    ],
  ])('%s is not answered', async (_, caip2, what) => {
    expect(await refusalOf(history({ caip2 }))).toEqual([501, 12, `${what} is not implemented by this service`, ''])
  })

  test('what a gas station made is the account’s, each call, and who paid is told', async () => {
    await placeGasStation(anvil)
    await anvil.fund(service.service.bootstrap.relayers.eip155, 10)
    await complete(service.root, 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG', {
      orgWindowLimitUsd: '1000',
      subOrgWindowLimitUsd: '1',
      windowDurationMinutes: '60',
    })
    const calls = [
      { to: RECEIVER, value: '5' },
      { to: WALLET, value: '7' },
    ]
    const sendCalls = async (sponsor: boolean) => {
      const intent = { from, caip2: SEPOLIA, calls, sponsor }
      const sent = await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2', intent)
      return (await untilEnded(service.root, sent.sendTransactionStatusId)).eth!.txHash!
    }
    const transfers = [
      moved('OUT', RECEIVER, 5n, ether, '0.000000000000000005'),
      moved('OUT', WALLET, 7n, ether, '0.000000000000000007'),
    ]
    const told = [await sendCalls(false), await sendCalls(true)].map((transactionHash, index) => ({
      transactionHash,
      transfers,
      turnkey: { sponsored: index === 1 },
    }))
    const { transactions } = await history({ paginationOptions: { limit: '2' } })
    expect(transactions).toMatchObject(told.reverse())
    expect(transactions.map((transaction) => transaction.from)).toEqual([
      service.service.bootstrap.relayers.eip155.toLowerCase(),
      from.toLowerCase(),
    ])
  })

  test('another organization has none of it', async () => {
    const tenant = await addTenant(service)
    const sent = tenant.client.query('list_eth_transaction_history', {
      organizationId: tenant.organizationId,
      address: from,
      caip2: SEPOLIA,
    })
    expect((await refusalOf(sent))[0]).toBe(404)
  })
})
