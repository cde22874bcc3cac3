import { afterAll, beforeAll, expect, test } from 'vitest'
import { addTenant, complete, type Tenant } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { fetchKeys, type Received, type Receiver, startReceiver, verdictOf } from '../outbox/receiver.ts'
import { type Anvil, startAnvil } from '../sends/anvil.ts'
import { SEPOLIA } from '../sends/status.ts'
import { accountsOf, ETHEREUM } from '../signing/keys.ts'
import { msgOf, toldTo } from './told.ts'

/** Answers 6 to any question without arguments; else logs the transfer that it is given: from, to, amount. */
const TOKEN = '0x0000000000000000000000000000000000070ce0'
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const TOKEN_CODE =
  `0x366004106011576006600052602060 00f35b604035600052602035600035 7f${TRANSFER}60206000a300`.replaceAll(' ', '')
const REVERTS = '0x00000000000000000000000000000000000ec400'
const OUTSIDE = '0x00000000000000000000000000000000000000b0'
/** Blocks until one of Sepolia is final, itself counted. */
const FINAL = 12

let anvil: Anvil
let receiver: Receiver
let service: TestService
let tenant: Tenant
let ours: string
let payer: string
beforeAll(async () => {
  ;[anvil, receiver] = await Promise.all([startAnvil({ mining: 'on-request' }), startReceiver()])
  await anvil.rpc('anvil_setCode', TOKEN, TOKEN_CODE)
  await anvil.rpc('anvil_setCode', REVERTS, '0x60006000fd')
  ;[payer] = (await anvil.rpc<[string]>('eth_accounts')) as [string]
  service = await startTestService({
    chains: { [SEPOLIA]: { url: anvil.url, pollMs: 20, tokens: [TOKEN] } },
    allowedWebhookHosts: [receiver.host],
  })
  tenant = await addTenant(service, { parentId: service.organizationId })
  const wallet = { walletName: 'w', accounts: accountsOf(ETHEREUM) }
  ;[ours] = (await complete(tenant.client, 'ACTIVITY_TYPE_CREATE_WALLET', wallet, tenant.organizationId)).addresses as [
    string,
  ]
  await anvil.fund(ours, 1)
  await anvil.rpc('anvil_impersonateAccount', ours)
})
afterAll(async () => {
  await service.close()
  await Promise.all([anvil.kill(), receiver.close()])
})

const { of, sumsOf } = toldTo(() => receiver)

const send = (from: string, to: string, value: number, data = '0x') =>
  anvil.rpc<string>('eth_sendTransaction', {
    ...{ from, to, value: `0x${value.toString(16)}`, data, gas: '0x186a0' },
    ...{ maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x1' },
  })
const word = (hex: string) => hex.replace('0x', '').padStart(64, '0')
const transfer = (from: string, to: string, amount: number) =>
  send(payer, TOKEN, 0, `0x${word(from)}${word(to)}${word(amount.toString(16))}`)
const mine = (blocks = 1) => anvil.rpc('anvil_mine', `0x${blocks.toString(16)}`)

test('balances: what wallets receive and send is told once confirmed and once final, through a reorganisation and a restart', async () => {
  const subscriptions = ['BALANCE_CONFIRMED_UPDATES', 'BALANCE_FINALIZED_UPDATES'].map((eventType) => ({ eventType }))
  const endpoint = { url: `${receiver.url}/balances`, name: 'ops', subscriptions }
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', endpoint)
  const before = await anvil.rpc<string>('evm_snapshot')

  const deposited = await send(payer, ours, 5)
  await transfer(OUTSIDE, ours, 7)
  await transfer(OUTSIDE, OUTSIDE, 8)
  await send(ours, OUTSIDE, 3)
  await send(ours, REVERTS, 4)
  await mine()
  await receiver.until(() => of('confirmed').length >= 3)
  const [ether, token] = [`${SEPOLIA}/slip44:60`, `${SEPOLIA}/erc20:${TOKEN}`]
  expect(sumsOf('confirmed')).toEqual([`deposit 5 ${ether}`, `deposit 7 ${token}`, `withdraw 3 ${ether}`].toSorted())
  const isDeposit = (each: Received) => msgOf(each).txHash === deposited
  const first = of('confirmed').find(isDeposit)!
  const block = await anvil.rpc<{ number: string; hash: string; timestamp: string }>(
    'eth_getBlockByNumber',
    'latest',
    false,
  )
  const timestamp = new Date(Number(block.timestamp) * 1_000).toISOString().replace('.000Z', 'Z')
  expect(first.body).toEqual({
    type: 'balances:confirmed',
    organizationId: tenant.organizationId,
    parentOrganizationId: service.organizationId,
    msg: {
      operation: 'deposit',
      caip2: SEPOLIA,
      txHash: deposited,
      address: ours,
      idempotencyKey: expect.stringMatching(/^[0-9a-f]{64}:balances:confirmed$/),
      asset: { symbol: 'ETH', name: 'Ether', decimals: 18, caip19: ether, amount: '5' },
      block: { number: Number(block.number), hash: block.hash, timestamp },
    },
  })
  expect(verdictOf(first, await fetchKeys(service.url))).toBe('ok')

  // Another way, on which the deposit alone comes again; while it is the shorter one, nothing is known.
  await anvil.rpc('evm_revert', before)
  await anvil.rpc('anvil_impersonateAccount', ours)
  expect(await send(payer, ours, 5)).toBe(deposited)
  await mine(3)
  await receiver.until(() => of('confirmed').length >= 4)
  const [, again] = of('confirmed').filter(isDeposit)
  expect(msgOf(again!).idempotencyKey).toBe(msgOf(first).idempotencyKey)
  expect(msgOf(again!).block['hash']).not.toBe(block.hash)

  // Blocks that are made while the service is away are looked through when it is back.
  await service.service.close()
  await mine(FINAL - 3)
  const late = await send(ours, OUTSIDE, 6)
  await mine()
  await service.restart()
  await receiver.until(() => of('finalized').length >= 1 && of('confirmed').some((each) => msgOf(each).txHash === late))
  await mine(FINAL - 1)
  await receiver.until(() => of('finalized').some((each) => msgOf(each).txHash === late))
  expect(sumsOf('finalized')).toEqual([`deposit 5 ${ether}`, `withdraw 6 ${ether}`].toSorted())
  const final = of('finalized').find(isDeposit)!
  expect(msgOf(final).block).toEqual(msgOf(again!).block)
  expect(msgOf(final).idempotencyKey).toBe(msgOf(first).idempotencyKey.replace('confirmed', 'finalized'))
  expect(of('confirmed')).toHaveLength(5)
})
