/** The chain says what became of a send, and no single answer of a node does: paid once, told as it is, for no more than the ceiling. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { TRIALS } from './judged.ts'
import { type Judged, type LyingChain, startJudged, startLyingChain } from './judged-stage.ts'

let chain: LyingChain
let stage: Judged
beforeAll(async () => {
  chain = await startLyingChain()
  stage = await startJudged(chain)
})
afterEach(() => chain.calm())
afterAll(async () => {
  await stage.close()
  await chain.close()
})

test('sends: what is in a block is looked for once, after that its block is, and both before it is settled', async () => {
  const { anvil, node, makeSender, submit, end, mine, until, turns } = stage
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
  await lookAgain()
  // That look is over.
  await turns()
  asked.receipts = 0
  await lookAgain()
  await turns()
  expect(asked.receipts).toBe(0)
  // With the last of its confirmations.
  await lookAgain()
  await until(async () => asked.receipts > 0)
})

test('sends: a node that lies of all fees is believed up to the cap of the chain; above it a send waits, unsigned', async () => {
  const { anvil, node, makeSender, submit, end, stateOf, until } = stage
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

test("sends: a tip of the caller's is offered as it is, and what the service adds to it stays beneath the ceiling", async () => {
  const { anvil, node, makeSender, submit, end } = stage
  const from = await makeSender()
  const block = await anvil.rpc<object>('eth_getBlockByNumber', 'latest', false)
  // 400 gwei: room for that to double is above the cap.
  const dear = '0x5d21dba000'
  node.fault = ({ method }) => {
    if (method === 'eth_feeHistory') return { result: { baseFeePerGas: [dear, dear], reward: [[dear]] } }
    return method === 'eth_getBlockByNumber' ? { result: { ...block, baseFeePerGas: dear } } : undefined
  }
  const id = await submit(from, { maxPriorityFeePerGas: '100000000000' })
  await stage.until(async () => (await stage.stateOf(id)).txStatus !== 'INITIALIZED')
  node.fault = () => undefined
  const { eth } = await end(id)
  expect(await anvil.rpc('eth_getTransactionByHash', eth!.txHash)).toMatchObject({
    maxPriorityFeePerGas: `0x${(100_000_000_000).toString(16)}`,
    maxFeePerGas: `0x${(500_000_000_000).toString(16)}`,
  })
})

test('sends: while the node serves another chain for a moment, a send waits for it', async () => {
  const { node, makeSender, submit, end } = stage
  const from = await makeSender()
  let asked = 0
  node.fault = ({ method }) => (method === 'eth_chainId' && asked++ > 0 && asked < 5 ? { result: '0x1' } : undefined)
  expect((await end(await submit(from))).txStatus).toBe('INCLUDED')
})

// After the others: what it leaves open asks the node for ever, as does the last of the trials.
test('sends: one that may not cost what the next block takes waits, unsigned, and holds up no other', async () => {
  const { node, makeSender, submit, end, stateOf } = stage
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

test.each(Object.entries(TRIALS))('sends: %s', (_, trial) => trial(stage))
