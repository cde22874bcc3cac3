/** The chain says what became of a send, and no single answer of a node does: paid once, told as it is, for no more than the ceiling. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { TRIALS } from './judged.ts'
import { type Judged, type LyingChain, RECEIVER, startJudged, startLyingChain } from './judged-stage.ts'
import { untilOffered } from './status.ts'

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

test('sends: what a block had that was taken back is offered again with the same bytes, and told so', async () => {
  const { anvil, service, makeSender, submit, end, stateOf, mine, countOf, until } = stage
  const from = await makeSender()
  await anvil.rpc('evm_setAutomine', false)
  const id = await submit(from)
  await untilOffered(service.root, anvil, id)
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
  const { anvil, node, makeSender, submit, end, mine, until } = stage
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

test('sends: a transfer of a token that would move nothing is not sent', async () => {
  const { anvil, makeSender, submit, end, countOf } = stage
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
