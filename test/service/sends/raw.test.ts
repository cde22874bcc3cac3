import { parseGwei, serializeTransaction, type TransactionSerializable } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { complete, fresh, invalid, refusalOf } from '../handlers/steps.ts'
import { createTestUser, startTestService, type TestService } from '../harness.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { SEPOLIA, untilEnded } from './status.ts'

const RECEIVER = '0x00000000000000000000000000000000000000b0'
const outsider = privateKeyToAccount(generatePrivateKey())

let anvil: Anvil
let service: TestService
beforeAll(async () => {
  anvil = await startAnvil()
  service = await startTestService({ chains: { [SEPOLIA]: { url: anvil.url, pollMs: 50 } } })
  await anvil.fund(outsider.address, 1)
})
afterAll(async () => {
  await service.close()
  await anvil.kill()
})

const transaction = {
  type: 'eip1559',
  chainId: 11_155_111,
  to: RECEIVER,
  gas: 21_000n,
  maxFeePerGas: parseGwei('9'),
  maxPriorityFeePerGas: 1n,
} as const
const priced = { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined, gasPrice: parseGwei('9') }
const signed = (fields: object) => outsider.signTransaction({ ...transaction, ...fields } as TransactionSerializable)
const ACTIVITY = 'ACTIVITY_TYPE_ETH_SEND_RAW_TRANSACTION'
const nextNonce = async () => Number(await anvil.rpc<string>('eth_getTransactionCount', outsider.address, 'pending'))

test('eth_send_raw_transaction: what was signed elsewhere is broadcast, and its status is that of its hash', async () => {
  for (const fields of [{ value: 5n }, { type: 'legacy', ...priced }, { type: 'eip2930', ...priced }]) {
    const signedTransaction = await signed({ ...fields, nonce: await nextNonce() })
    const { transactionHash } = await complete(service.root, ACTIVITY, { signedTransaction, caip2: SEPOLIA })
    const ended = await untilEnded(service.root, transactionHash)
    expect(ended).toEqual({ txStatus: 'INCLUDED', eth: { txHash: transactionHash } })
    expect(await anvil.rpc('eth_getTransactionByHash', transactionHash)).toMatchObject({
      from: outsider.address.toLowerCase(),
    })
  }
  expect(BigInt(await anvil.rpc<string>('eth_getBalance', RECEIVER, 'latest'))).toBe(5n)
})

test('eth_send_raw_transaction: sent once more it is the same transaction', async () => {
  const signedTransaction = await signed({ nonce: await nextNonce() })
  const { transactionHash } = await complete(service.root, ACTIVITY, { signedTransaction, caip2: SEPOLIA })
  await untilEnded(service.root, transactionHash)
  await complete(service.root, ACTIVITY, { signedTransaction, caip2: SEPOLIA })
  expect((await untilEnded(service.root, transactionHash)).txStatus).toBe('INCLUDED')
})

test('eth_send_raw_transaction: policies see who has signed it and what it does', async () => {
  const { client, userId } = await createTestUser(service, fresh('courier'))
  await complete(service.root, 'ACTIVITY_TYPE_CREATE_POLICY_V3', {
    policyName: fresh('courier'),
    effect: 'EFFECT_ALLOW',
    consensus: `approvers.any(user, user.id == '${userId}')`,
    condition: `eth.tx.from == '${outsider.address.toLowerCase()}' && eth.tx.value < 10 && eth.tx.type == 'TYPE_2'`,
    notes: '',
  })
  const send = async (value: bigint) =>
    client.submit(ACTIVITY, { signedTransaction: await signed({ nonce: await nextNonce(), value }), caip2: SEPOLIA })
  expect((await refusalOf(send(10n))).slice(0, 2)).toEqual([403, 7])
  const { status, result } = await send(9n)
  expect(status).toBe('ACTIVITY_STATUS_COMPLETED')
  await untilEnded(service.root, result.ethSendRawTransactionResult!.transactionHash)
})

test('eth_send_raw_transaction: one that the node refuses after all has failed, by its hash', async () => {
  const signedTransaction = await signed({ gas: 20_000n, nonce: await nextNonce() })
  const { transactionHash } = await complete(service.root, ACTIVITY, { signedTransaction, caip2: SEPOLIA })
  expect(await untilEnded(service.root, transactionHash)).toMatchObject({
    txStatus: 'FAILED',
    txError: expect.stringMatching(/intrinsic gas too low/),
  })
})

test('eth_send_raw_transaction: one that reverts says why', async () => {
  await anvil.rpc('anvil_setCode', '0x00000000000000000000000000000000000ec400', '0x366000600037366000fd')
  const fields = { to: '0x00000000000000000000000000000000000ec400', gas: 60_000n, nonce: await nextNonce() }
  const signedTransaction = await signed(fields)
  const { transactionHash } = await complete(service.root, ACTIVITY, { signedTransaction, caip2: SEPOLIA })
  expect(await untilEnded(service.root, transactionHash)).toMatchObject({
    txStatus: 'INCLUDED',
    txError: expect.stringMatching(/^execution reverted/),
  })
})

const parse = (reason: string) => [400, 3, `failed to parse transaction: ${reason}`, 'INVALID_TRANSACTION']
test.each<[string, () => Promise<object>, readonly unknown[]]>([
  ['no hex', async () => ({ signedTransaction: '0xzz' }), parse('it is no hex of whole bytes')],
  [
    'an unsigned one',
    async () => ({ signedTransaction: serializeTransaction(transaction) }),
    parse('the transaction is not signed'),
  ],
  [
    'one for another chain',
    async () => ({ signedTransaction: await signed({ chainId: 1, nonce: 0 }) }),
    parse(`it is signed for chain eip155:1, not for ${SEPOLIA}`),
  ],
  [
    'one for every chain',
    async () => ({
      signedTransaction: await signed({ type: 'legacy', chainId: undefined, ...priced, nonce: 0 }),
    }),
    parse('it is signed for no chain, and so for each of them'),
  ],
  [
    'a nonce that is spent',
    async () => ({ signedTransaction: await signed({ nonce: 0, value: 77n }) }),
    [
      400,
      3,
      expect.stringMatching(/^nonce too low: 0x[0-9a-f]{40} has sent \d+, the transaction has nonce 0$/),
      'INVALID_TRANSACTION',
    ],
  ],
  [
    'a nonce that no account reaches',
    async () => ({ signedTransaction: await signed({ nonce: 2n ** 53n }) }),
    parse('`nonce` is 9007199254740992, which no account reaches'),
  ],
  [
    'more than there is',
    async () => ({ signedTransaction: await signed({ nonce: await nextNonce(), value: 10n ** 18n }) }),
    [400, 3, expect.stringMatching(/^insufficient funds: 0x[0-9a-f]{40} has \d+ wei/), 'INVALID_TRANSACTION'],
  ],
  [
    'a chain that is not served',
    async () => ({ signedTransaction: await signed({ nonce: 0 }), caip2: 'eip155:10' }),
    invalid(`chain eip155:10 is not served here (served: ${SEPOLIA})`),
  ],
])('eth_send_raw_transaction: %s is refused', async (_, make, refusal) => {
  const sent = service.root.submit(ACTIVITY, { caip2: SEPOLIA, ...(await make()) })
  expect(await refusalOf(sent)).toEqual(refusal)
})
