import { ComputeBudgetProgram, PublicKey, type TransactionInstruction } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { complete, refusalOf } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { makeWallet, SOLANA } from '../signing/keys.ts'
import { draftOf, receiver, transferOf } from './solana-drafts.ts'
import { startSolanaNode, type TestSolanaNode } from './solana-node.ts'
import { untilEnded } from './status.ts'

const DEVNET = 'solana:devnet'

let node: TestSolanaNode
let service: TestService
let from: PublicKey
let relayer: string
beforeAll(async () => {
  node = await startSolanaNode({ unitPrices: [2_000_000] })
  service = await startTestService({ chains: { [DEVNET]: { url: node.url, pollMs: 30, usdPrice: '100' } } })
  from = new PublicKey((await makeWallet(service.root, SOLANA)).accounts[0]!.address)
  relayer = service.service.bootstrap.relayers.solana
  node.fund(from.toBase58(), 3)
  node.fund(relayer, 1)
})
afterAll(async () => {
  await service.close()
  await node.close()
})

const limits = (parameters: object = {}) =>
  complete(service.root, 'ACTIVITY_TYPE_UPSERT_GAS_USAGE_CONFIG', {
    orgWindowLimitUsd: '1',
    subOrgWindowLimitUsd: '1',
    windowDurationMinutes: '60',
    enabled: true,
    ...parameters,
  })
const intentOf = (...instructions: TransactionInstruction[]) => ({
  unsignedTransaction: draftOf(instructions, { payer: from }).toString('hex'),
  signWith: from.toBase58(),
  caip2: DEVNET,
  sponsor: true,
})
const submit = (...instructions: TransactionInstruction[]) =>
  service.root.submit('ACTIVITY_TYPE_SOL_SEND_TRANSACTION', intentOf(...instructions))
const usageUsd = async () => (await service.root.query('get_gas_usage', {})).usageUsd

test('a sponsor that is not enabled is refused', async () => {
  const [status, code] = await refusalOf(submit(transferOf(from, receiver(), 1_000_000)))
  expect([status, code]).toEqual([403, 7])
})

test('the relayer pays the fee of a sponsored send and nothing else, and it counts towards the limits', async () => {
  await limits()
  const to = receiver()
  // Everything that its sender has: there is nothing left for a fee.
  const intent = intentOf(transferOf(from, to, 3_000_000_000))
  const { sendTransactionStatusId: id } = await complete(service.root, 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION', intent)
  const { txStatus, solana } = await untilEnded(service.root, id)
  expect([txStatus, node.balance(to.toBase58()), node.balance(from.toBase58())]).toEqual([
    'INCLUDED',
    3_000_000_000n,
    0n,
  ])
  const { fee } = node.landed.get(solana!.signature!)!
  expect(node.balance(relayer)).toBe(1_000_000_000n - BigInt(fee))
  // Two signatures, and 480 units at the highest price that is offered.
  expect(fee).toBe(10_000 + 480)
  expect(await usageUsd()).toBe('0.001048')
  node.fund(from.toBase58(), 3)
})

test.each<[string, () => TransactionInstruction, string]>([
  ['that moves the relayer’s own funds', () => transferOf(new PublicKey(relayer), from, 1), 'must sign it too'],
  ['that pays the relayer', () => transferOf(from, new PublicKey(relayer), 1), 'does not name who pays for it'],
])('a sponsored send %s is refused', async (_, instruction, reason) => {
  const [status, , message] = await refusalOf(submit(instruction()))
  expect([status, message]).toEqual([400, expect.stringContaining(reason)])
})

test('a price that the caller sets is counted before anything is signed', async () => {
  const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 100_000_000 })
  expect((await refusalOf(submit(transferOf(from, receiver(), 1_000_000), price))).slice(0, 3)).toEqual([
    429,
    8,
    'gas sponsorship limit reached',
  ])
})

test('one that turns out to cost more than the limits leave is never signed', async () => {
  // As asked for, two signatures are a thousandth of a dollar; what is offered for its units makes it more.
  await limits({ orgWindowLimitUsd: '0.00205' })
  const [signatures, balance] = [node.offered.size, node.balance(relayer)]
  const intent = intentOf(transferOf(from, receiver(), 1_000_000))
  const { sendTransactionStatusId: id } = await complete(service.root, 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION', intent)
  expect(await untilEnded(service.root, id)).toMatchObject({
    txStatus: 'FAILED',
    txError: 'gas sponsorship limit reached',
  })
  expect([node.offered.size, node.balance(relayer), await usageUsd()]).toEqual([signatures, balance, '0.001048'])
})
