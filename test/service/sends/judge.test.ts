/** The chain says what became of a send, and no single answer of a node does: paid once, told as it is, for no more than the ceiling. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Ask, FAULTS, type Fault, type FaultNode, NONCE_TOO_LOW, startFaultNode } from '../../faults/fault-node.ts'
import { complete } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'
import { ETHEREUM, makeWallet } from '../signing/keys.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { SEPOLIA, untilEnded } from './status.ts'

const RECEIVER = '0x00000000000000000000000000000000000000b0'
const CONFIRMATIONS = 4

let anvil: Anvil
let node: FaultNode
let witness: FaultNode
let service: TestService
beforeAll(async () => {
  anvil = await startAnvil()
  ;[node, witness] = await Promise.all([startFaultNode(anvil.url), startFaultNode(anvil.url)])
  const chain = { url: node.url, witnesses: [witness.url], pollMs: 25, confirmations: CONFIRMATIONS }
  service = await startTestService({ chains: { [SEPOLIA]: chain } })
})
afterAll(async () => {
  await service.close()
  await Promise.all([node.close(), witness.close()])
  await anvil.kill()
})
afterEach(async () => {
  node.fault = () => undefined
  witness.fault = () => undefined
  await anvil.rpc('evm_setAutomine', true)
})

async function makeSender(): Promise<string> {
  const { address } = (await makeWallet(service.root, ETHEREUM)).accounts[0]!
  await anvil.fund(address, 100)
  return address
}

async function submit(from: string, parameters: object = {}): Promise<string> {
  const intent = { from, caip2: SEPOLIA, to: RECEIVER, value: '1', ...parameters }
  return (await complete(service.root, 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION', intent)).sendTransactionStatusId
}

const end = (id: string) => untilEnded(service.root, id)
const stateOf = (sendTransactionStatusId: string) =>
  service.root.query('get_send_transaction_status', { sendTransactionStatusId })
const mine = (blocks: number) => anvil.rpc('anvil_mine', `0x${blocks.toString(16)}`)
const countOf = async (address: string) => Number(await anvil.rpc<string>('eth_getTransactionCount', address, 'latest'))

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(15)
}

/** A fault of the first so many questions of a method, then the truth. */
function first(times: number, method: string, fault: Fault) {
  let asked = 0
  return (ask: Ask) => (ask.method === method && asked++ < times ? fault : undefined)
}

/** The first fault that any of them has. */
const any =
  (...faults: ((ask: Ask) => Fault)[]) =>
  (ask: Ask) =>
    faults.map((fault) => fault(ask)).find((fault) => fault !== undefined)

const SENT = 'eth_sendRawTransaction'
const unknown = { result: null }

test.each<[string, () => (ask: Ask) => Fault]>([
  [
    'is taken, and refused because its nonce was used',
    () => any(first(1, SENT, { done: true, ...NONCE_TOO_LOW }), first(1, 'eth_getTransactionByHash', unknown)),
  ],
  [
    'is taken, and refused for want of funds',
    () =>
      any(
        first(1, SENT, { done: true, error: { code: -32_000, message: 'insufficient funds for gas * price + value' } }),
        first(1, 'eth_getTransactionByHash', unknown),
      ),
  ],
  [
    'is taken by a node that then has an internal error',
    () =>
      any(
        first(1, SENT, { done: true, error: { code: -32_603, message: 'Internal error' } }),
        first(1, 'eth_getTransactionByHash', unknown),
      ),
  ],
  [
    'is taken by a node whose gateway says 500',
    () =>
      any(
        first(1, SENT, { done: true, status: 500, error: { code: -32_000, message: 'something broke' } }),
        first(1, 'eth_getTransactionByHash', unknown),
      ),
  ],
  ['has no receipt for a while, although it is counted', () => first(12, 'eth_getTransactionReceipt', unknown)],
  [
    'has receipts of blocks that come after the counts',
    () => {
      let asked = 0
      return ({ method }) => (method === 'eth_getTransactionReceipt' && asked++ < 12 ? { behind: 1 } : undefined)
    },
  ],
  [
    'has the receipt of another hash',
    () => first(12, 'eth_getTransactionReceipt', { field: 'transactionHash', says: `0x${'1'.repeat(64)}` }),
  ],
  [
    'has a receipt of a block that the chain has not',
    () => first(12, 'eth_getTransactionReceipt', { field: 'blockHash', says: `0x${'1'.repeat(64)}` }),
  ],
])('sends: one that %s is paid once and told as included', async (_, faults) => {
  const from = await makeSender()
  node.fault = faults()
  const { txStatus, eth } = await end(await submit(from))
  expect({ txStatus, mined: await countOf(from) }).toEqual({ txStatus: 'INCLUDED', mined: 1 })
  expect(await anvil.rpc('eth_getTransactionReceipt', eth!.txHash)).toMatchObject({ status: '0x1' })
})

test('sends: a receipt that a lying node makes up is not told as included', async () => {
  const from = await makeSender()
  await anvil.rpc('evm_setAutomine', false)
  const other = await anvil.rpc<{ hash: string; number: string }>('eth_getBlockByNumber', 'latest', false)
  node.fault = ({ method, params }) =>
    method === 'eth_getTransactionReceipt'
      ? {
          result: {
            ...{
              transactionHash: params[0],
              blockNumber: other.number,
              blockHash: `0x${'2'.repeat(64)}`,
              from,
              to: RECEIVER,
            },
            ...{ contractAddress: null, logs: [], status: '0x1', gasUsed: '0x5208', effectiveGasPrice: '0x1' },
          },
        }
      : undefined
  const id = await submit(from)
  await until(async () => (await stateOf(id)).txStatus === 'BROADCASTING')
  await pause(200)
  expect((await stateOf(id)).txStatus).toBe('BROADCASTING')
  node.fault = () => undefined
  await mine(1)
  expect((await end(id)).txStatus).toBe('INCLUDED')
})

test('sends: one is replaced when what has its nonce is known, is settled, and every node says so', async () => {
  const from = await makeSender()
  await anvil.rpc('evm_setAutomine', false)
  const id = await submit(from)
  await until(async () => (await stateOf(id)).eth !== undefined)
  const { txHash } = (await stateOf(id)).eth!
  // It is kept before it is broadcast.
  await until(async () => (await anvil.rpc('eth_getTransactionByHash', txHash)) !== null)
  // Offered again it would take its nonce before the other one does.
  node.fault = ({ method }) => (method === 'eth_sendRawTransaction' ? 'dropped' : undefined)
  await anvil.rpc('anvil_dropTransaction', txHash)
  const by = await sendElsewhere(from)
  witness.fault = ({ method }) => (method === 'eth_getTransactionReceipt' ? unknown : undefined)
  await mine(CONFIRMATIONS - 1)
  await pause(150)
  expect((await stateOf(id)).txStatus).toBe('BROADCASTING')
  await mine(1)
  await pause(150)
  expect((await stateOf(id)).txStatus).toBe('BROADCASTING')
  witness.fault = () => undefined
  expect(await end(id)).toMatchObject({
    txStatus: 'FAILED',
    txError: `replaced by transaction ${by} of ${from.toLowerCase()} with nonce 0, which was included`,
  })
})

test('sends: one that comes upon a used nonce takes the next as soon as it is known what used it', async () => {
  const from = await makeSender()
  await sendElsewhere(from)
  node.fault = first(1, 'eth_getTransactionCount', { result: '0x0' })
  const id = await submit(from, { gasLimit: '21000' })
  expect((await end(id)).txStatus).toBe('INCLUDED')
  expect(await countOf(from)).toBe(2)
})

test('sends: what a block had that was taken back is offered again with the same bytes, and told so', async () => {
  const from = await makeSender()
  await anvil.rpc('evm_setAutomine', false)
  const id = await submit(from)
  await until(async () => (await stateOf(id)).eth !== undefined)
  await mine(1)
  const { eth } = await end(id)
  await anvil.rpc('anvil_reorg', 1, [])
  await until(async () => {
    await mine(1)
    const { blockNumber } =
      (await anvil.rpc<{ blockNumber?: string } | null>('eth_getTransactionReceipt', eth!.txHash)) ?? {}
    return blockNumber !== undefined
  })
  await until(async () => (await stateOf(id)).txStatus === 'INCLUDED')
  expect(await stateOf(id)).toMatchObject({ txStatus: 'INCLUDED', eth: { txHash: eth!.txHash } })
  expect(await countOf(from)).toBe(1)
})

test('sends: what is in a block is looked for once, and after that its block is', async () => {
  const from = await makeSender()
  const { eth } = await end(await submit(from))
  const { blockNumber } = await anvil.rpc<{ blockNumber: string }>('eth_getTransactionReceipt', eth!.txHash)
  const asked = { receipts: 0, blocks: 0 }
  node.fault = ({ method, params }) => {
    if (method === 'eth_getBlockByNumber' && params?.[0] === blockNumber) asked.blocks++
    if (method === 'eth_getTransactionReceipt' && params?.[0] === eth!.txHash) asked.receipts++
    return undefined
  }
  const lookAgain = async () => {
    const { blocks } = asked
    await mine(1)
    await until(async () => asked.blocks > blocks)
  }
  // A look asks for the block first, and once for what is in it: that is over when the next look begins.
  await lookAgain()
  await lookAgain()
  asked.receipts = 0
  await lookAgain()
  expect(asked.receipts).toBe(0)
})

test('sends: a node that lags takes nothing back', async () => {
  const from = await makeSender()
  const id = await submit(from)
  await end(id)
  const states = new Set<string>()
  node.fault = () => ({ behind: 2 })
  for (let block = 0; block < 2; block++) {
    await mine(1)
    await pause(80)
    states.add((await stateOf(id)).txStatus)
  }
  expect([...states]).toEqual(['INCLUDED'])
})

test('sends: no tip and no price that a node names costs more than the ceiling', async () => {
  const from = await makeSender()
  node.fault = ({ method }) => (method === 'eth_maxPriorityFeePerGas' ? FAULTS['overcharged']!.make(1) : undefined)
  const { eth } = await end(await submit(from))
  const sent = await anvil.rpc<Record<'maxFeePerGas' | 'maxPriorityFeePerGas', string>>(
    'eth_getTransactionByHash',
    eth!.txHash,
  )
  // Four times the two gwei that a tip in empty blocks is taken for.
  expect(BigInt(sent.maxPriorityFeePerGas)).toBeLessThanOrEqual(8_000_000_000n)
  expect(BigInt(sent.maxFeePerGas)).toBeLessThanOrEqual(500_000_000_000n)
  const { effectiveGasPrice } = await anvil.rpc<Record<string, string>>('eth_getTransactionReceipt', eth!.txHash)
  expect(BigInt(effectiveGasPrice!)).toBeLessThan(12_000_000_000n)
})

test('sends: a node that lies of all fees is believed up to the cap of the chain; above it a send waits, unsigned', async () => {
  const from = await makeSender()
  const block = await anvil.rpc<object>('eth_getBlockByNumber', 'latest', false)
  const dear = '0x38d7ea4c68000'
  node.fault = ({ method }) => {
    if (method === 'eth_maxPriorityFeePerGas') return { result: dear }
    if (method === 'eth_feeHistory') return { result: { baseFeePerGas: [dear, dear], reward: [[dear]] } }
    return method === 'eth_getBlockByNumber' ? { result: { ...block, baseFeePerGas: dear } } : undefined
  }
  const id = await submit(from)
  await until(async () => (await stateOf(id)).error !== undefined)
  const waitsFor = `a unit of gas costs ${Number(dear)} wei now, and the ceiling is 500000000000: nothing is signed until it costs less`
  const error = { error: { message: waitsFor }, txError: waitsFor }
  expect(await stateOf(id)).toEqual({ txStatus: 'INITIALIZED', ...error })
  node.fault = () => undefined
  const ended = await end(id)
  expect(ended).toEqual({ txStatus: 'INCLUDED', eth: ended.eth })
})

test('sends: a transfer of a token that would move nothing is not sent', async () => {
  const from = await makeSender()
  const transfer = `0xa9059cbb${RECEIVER.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`
  const answersFalse = '0x00000000000000000000000000000000000fa15e'
  await anvil.rpc('anvil_setCode', answersFalse, '0x600060005260206000f3')
  const nothing = '0x0000000000000000000000000000000000090000'
  const ends = []
  for (const to of [nothing, answersFalse]) ends.push(await end(await submit(from, { to, value: '0', data: transfer })))
  expect(ends.map(({ txStatus, txError, eth }) => [txStatus, txError, eth])).toEqual([
    ['FAILED', expect.stringContaining(`there is no contract at ${nothing}`), undefined],
    ['FAILED', expect.stringContaining(`the token at ${answersFalse} answers that it would not`), undefined],
  ])
  expect(await countOf(from)).toBe(0)
})

test('sends: while the node serves another chain for a moment, a send waits for it', async () => {
  const from = await makeSender()
  let asked = 0
  node.fault = ({ method }) => (method === 'eth_chainId' && asked++ > 0 && asked < 5 ? { result: '0x1' } : undefined)
  expect((await end(await submit(from))).txStatus).toBe('INCLUDED')
})

// The last one: what it leaves open asks the node for ever.
test('sends: one that may not cost what the next block takes waits, unsigned, and holds up no other', async () => {
  const from = await makeSender()
  const tried: unknown[] = []
  node.fault = ({ method, params }) => {
    if (method === 'eth_estimateGas' && JSON.stringify(params).includes('"0x4d2"')) tried.push(params)
    return undefined
  }
  const cheap = await submit(from, { value: '1234', maxFeePerGas: '1', maxPriorityFeePerGas: '1' })
  expect((await end(await submit(from))).txStatus).toBe('INCLUDED')
  // It is looked at with every poll, and drafted when it can be signed.
  expect(tried).toEqual([])
  expect(await stateOf(cheap)).toMatchObject({
    txStatus: 'INITIALIZED',
    txError: expect.stringMatching(/ and its `maxFeePerGas` is 1: /),
  })
})

/** Another transaction of an address, that this service knows nothing of. */
async function sendElsewhere(from: string): Promise<string> {
  await anvil.rpc('anvil_impersonateAccount', from)
  const hash = await anvil.rpc<string>('eth_sendTransaction', { from, to: RECEIVER, gas: '0x5208', value: '0x7' })
  await anvil.rpc('anvil_stopImpersonatingAccount', from)
  return hash
}
