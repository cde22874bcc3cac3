import {
  ComputeBudgetInstruction,
  ComputeBudgetProgram,
  Keypair,
  NonceAccount,
  type PublicKey,
  SystemProgram,
  Transaction,
} from '@solana/web3.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Wire } from '../../../src/protocol/index.ts'
import { type FaultNode, startFaultNode } from '../../faults/fault-node.ts'
import { draftOf, receiver, transferOf } from './solana-drafts.ts'
import { SOLANA_TRIALS } from './solana-judged.ts'
import { MAX_AGE, startSolanaNode } from './solana-node.ts'
import { setStage, signatureOf, someTurns, startOn, statusOf, submit, untilTrue } from './solana-stage.ts'
import { untilEnded } from './status.ts'
import { startUnreliableServer } from './unreliable-server.ts'

test('sends: a Solana node that loses one answer in ten and is restarted, and a service that is closed between', async () => {
  const node = await startSolanaNode()
  onTestFinished(() => node.close())
  const front = await startUnreliableServer(node.url, (asked) => asked % 10 === 0)
  onTestFinished(() => front.close())
  const stage = { node, ...(await startOn(front.url, node)) }
  const to = receiver()
  const draft = draftOf([transferOf(stage.from, to, 1_000_000)], { payer: stage.from })
  // The submit asks whether the node is there, and its answer may be the lost one: then nothing was accepted.
  const accept = async (): Promise<string> => submit(stage, draft).catch(accept)
  const ids: string[] = []
  for (let round = 0; round < 5; round++) {
    ids.push(...(await Promise.all(Array.from({ length: 8 }, accept))))
    if (round === 1) await node.restart()
    if (round === 2) await stage.service.restart()
  }
  const ends = await Promise.all(ids.map((id) => untilEnded(stage.service.root, id)))
  const signatures = new Set(ends.map(({ solana }) => solana?.signature))
  console.log(
    `sends=${ids.length} lostAnswers=${front.counts.lost} unreachable=${front.counts.unreachable} ` +
      `signatures=${signatures.size} landed=${node.landed.size} lamports=${node.balance(to.toBase58())}`,
  )
  expect(ends.map(({ txStatus }) => txStatus)).toEqual(ids.map(() => 'INCLUDED'))
  expect([signatures.size, node.landed.size, node.balance(to.toBase58())]).toEqual([40, 40, 40_000_000n])
  expect(front.counts.lost).toBeGreaterThan(5)
})

describe('a question about one send that is never answered', () => {
  /** A stage whose node answers through one that may not. */
  async function startFaulty() {
    const node = await startSolanaNode({ blocks: 'on-request' })
    onTestFinished(() => node.close())
    const front: FaultNode = await startFaultNode(node.url)
    onTestFinished(() => front.close())
    return { node, front, ...(await startOn(front.url, node)) }
  }
  const payTo = (stage: Parameters<typeof submit>[0], to: PublicKey) =>
    submit(stage, draftOf([transferOf(stage.from, to, 1_000_000)], { payer: stage.from }))

  test('sends: more of them than are asked about in a row hold up no other before they are signed', async () => {
    const stage = await startFaulty()
    const lost = receiver()
    let unanswered = 0
    stage.front.fault = ({ method, params }) => {
      const isLost =
        method === 'simulateTransaction' && Buffer.from(String(params[0]), 'base64').includes(lost.toBuffer())
      if (isLost) unanswered++
      return isLost ? 'dropped' : undefined
    }
    const starving: string[] = []
    for (let count = 0; count < 10; count++) starving.push(await payTo(stage, lost))
    await untilTrue(() => unanswered > 10)
    const id = await payTo(stage, receiver())
    await untilTrue(() => stage.node.waiting.size === 1)
    stage.node.produce(2)
    expect((await untilEnded(stage.service.root, id)).txStatus).toBe('INCLUDED')
    expect((await statusOf(stage, starving[0]!)).txStatus).toBe('INITIALIZED')
    stage.front.fault = () => undefined
    await untilTrue(() => stage.node.waiting.size === 10)
    stage.node.produce(2)
    await Promise.all(starving.map((each) => untilEnded(stage.service.root, each)))
    expect(stage.node.balance(lost.toBase58())).toBe(10_000_000n)
  })

  test.each<[string, boolean]>([
    ['its fate', true],
    ['the statuses of all', false],
  ])('sends: on its way (%s), it holds up none that is new', async (_, history) => {
    const stage = await startFaulty()
    const { node, front } = stage
    node.drops = true
    const first = await payTo(stage, receiver())
    await signatureOf(stage, first)
    let unanswered = 0
    front.fault = ({ method, params }) => {
      if (method !== 'getSignatureStatuses') return undefined
      const { searchTransactionHistory } = params[1] as { readonly searchTransactionHistory: boolean }
      if (searchTransactionHistory !== history) return undefined
      unanswered++
      return 'dropped'
    }
    node.produce(MAX_AGE + 3)
    await untilTrue(() => unanswered > 2)
    node.drops = false
    const second = await payTo(stage, receiver())
    const signature = await signatureOf(stage, second)
    await untilTrue(() => node.waiting.has(signature))
    expect(node.offered.size).toBe(2)
  })
})

describe('a blockhash that expires', () => {
  test.each(Object.entries(SOLANA_TRIALS))('sends: %s', (_, trial) => trial())

  test('sends: one that a node will not have tried anew holds up none of the others', async () => {
    const stage = await setStage()
    const { node, from } = stage
    const to = receiver()
    node.drops = true
    const first = await submit(stage, draftOf([transferOf(from, to, 1_000_000)], { payer: from }))
    await signatureOf(stage, first)
    node.refuses = (bytes) => (Buffer.from(bytes).includes(to.toBuffer()) ? -32_005 : undefined)
    node.produce(MAX_AGE + 3)
    node.drops = false
    await someTurns()
    const second = await submit(stage, draftOf([transferOf(from, receiver(), 1_000_000)], { payer: from }))
    const signature = await signatureOf(stage, second)
    await untilTrue(() => node.waiting.has(signature))
    node.produce(2)
    expect((await untilEnded(stage.service.root, second)).txStatus).toBe('INCLUDED')
    node.refuses = () => undefined
    await untilTrue(() => node.waiting.size === 1)
    node.produce(2)
    expect((await untilEnded(stage.service.root, first)).txStatus).toBe('INCLUDED')
    expect(node.balance(to.toBase58())).toBe(1_000_000n)
  })

  test('sends: what the caller has dated fails, and says so', async () => {
    const stage = await setStage()
    const { node, from } = stage
    node.drops = true
    const blockhash = node.blockhash()
    const id = await submit(stage, draftOf([transferOf(from, receiver(), 1_000_000)], { payer: from, blockhash }))
    await signatureOf(stage, id)
    node.produce(2 * MAX_AGE)
    expect(await untilEnded(stage.service.root, id)).toMatchObject({
      txStatus: 'FAILED',
      txError: `blockhash ${blockhash}, which the caller has set, expired before the transaction was included`,
    })
    expect(node.offered.size).toBe(1)
  })

  test('sends: one that was included while the service was away is found, however long ago', async () => {
    const node = await startSolanaNode({ blocks: 'on-request' })
    onTestFinished(() => node.close())
    let loses = true
    const front = await startUnreliableServer(node.url, () => loses && node.offered.size > 0)
    onTestFinished(() => front.close())
    const stage = { node, ...(await startOn(front.url, node)) }
    const to = receiver()
    const id = await submit(stage, draftOf([transferOf(stage.from, to, 1_000_000)], { payer: stage.from }))
    // The node has it, and its answers are lost from then on.
    const signature = await untilTrue(() => [...node.offered.keys()][0])
    await stage.service.service.close()
    node.produce(1_000)
    loses = false
    await stage.service.restart()
    expect(await untilEnded(stage.service.root, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature } })
    expect([node.landed.size, node.balance(to.toBase58())]).toEqual([1, 1_000_000n])
  })
})

test('sends: a durable nonce keeps a transaction for days; once it is used otherwise, the transaction fails', async () => {
  const stage = await setStage()
  const { node, from } = stage
  const nonce = Keypair.generate()
  const create = SystemProgram.createNonceAccount({
    fromPubkey: from,
    noncePubkey: nonce.publicKey,
    authorizedPubkey: from,
    lamports: 2_000_000,
  })
  const dated = { payer: from, blockhash: node.blockhash(), signedBy: nonce }
  const made = await submit(stage, draftOf(create.instructions, dated))
  await signatureOf(stage, made)
  node.produce(3)
  expect((await untilEnded(stage.service.root, made)).txStatus).toBe('INCLUDED')
  const nonceOf = () => NonceAccount.fromAccountData(Buffer.from(node.data(nonce.publicKey.toBase58()))).nonce
  const advance = SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey: from })
  const send = (lamports: number) =>
    submit(stage, draftOf([advance, transferOf(from, receiver(), lamports)], { payer: from, blockhash: nonceOf() }))

  const used = nonceOf()
  node.drops = true
  const ids = [await send(1_000_000), await send(2_000_000)]
  const [first] = await Promise.all(ids.map((id) => signatureOf(stage, id)))
  node.produce(3 * MAX_AGE)
  await someTurns()
  expect((await statusOf(stage, ids[1]!)).txStatus).toBe('BROADCASTING')
  await untilTrue(() => node.waiting.size === 2)
  node.drops = false
  node.produce(3)
  const ends = await Promise.all(ids.map((id) => untilEnded(stage.service.root, id)))
  expect(ends.map(({ txStatus }) => txStatus)).toEqual(['INCLUDED', 'FAILED'])
  expect(ends[0]!.solana!.signature).toBe(first)
  expect(ends[1]!.txError).toBe(`nonce ${used} of ${nonce.publicKey.toBase58()} was used for another transaction`)
})

test('sends: the very transaction that is sent already is not sent for another', async () => {
  const stage = await setStage()
  const { node, from } = stage
  const to = receiver()
  // What the caller has set is not varied.
  const draft = draftOf([transferOf(from, to, 1_000_000)], { payer: from, blockhash: node.blockhash() })
  const full = Transaction.from(draft)
  full.add(
    ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
  )
  const bytes = full.serialize({ requireAllSignatures: false, verifySignatures: false })
  const ids = [await submit(stage, bytes), await submit(stage, bytes)]
  expect(await untilEnded(stage.service.root, ids[1]!)).toMatchObject({
    txStatus: 'FAILED',
    txError: 'this very transaction is sent already, and is included once',
  })
  node.produce(2)
  expect((await untilEnded(stage.service.root, ids[0]!)).txStatus).toBe('INCLUDED')
  expect(node.balance(to.toBase58())).toBe(1_000_000n)
})

test('sends: one that fails in its block is included, with what the runtime said there', async () => {
  const stage = await setStage()
  const { node, from } = stage
  const six = () => draftOf([transferOf(from, receiver(), 6_000_000_000)], { payer: from })
  const ids = [await submit(stage, six()), await submit(stage, six())]
  for (const id of ids) await signatureOf(stage, id)
  node.produce(2)
  const [one, two] = (await Promise.all(ids.map((id) => untilEnded(stage.service.root, id)))) as [
    Wire.GetSendTransactionStatusResponse,
    Wire.GetSendTransactionStatusResponse,
  ]
  expect(one).toEqual({ txStatus: 'INCLUDED', solana: { signature: expect.any(String) } })
  expect(two).toMatchObject({
    txStatus: 'INCLUDED',
    txError: expect.stringMatching(/^instruction 0 failed with custom error 0x1: Transfer: insufficient lamports/),
    error: {
      solana: {
        source: 'execution',
        transactionErrorJson: '{"InstructionError":[0,{"Custom":1}]}',
        logs: expect.arrayContaining(['Program 11111111111111111111111111111111 failed: custom program error: 0x1']),
        unitsConsumed: expect.stringMatching(/^\d+$/),
      },
    },
  })
})

test.each([
  { includedAfter: 1, blocks: 2 },
  { includedAfter: 2, blocks: 3 },
])('sends: with $includedAfter includedAfter one counts after $blocks blocks', async ({ includedAfter, blocks }) => {
  const stage = await setStage({ blocks: 'on-request' }, { includedAfter })
  const { node, from } = stage
  const id = await submit(stage, draftOf([transferOf(from, receiver(), 1_000_000)], { payer: from }))
  await signatureOf(stage, id)
  node.produce(blocks - 1)
  await someTurns()
  expect((await statusOf(stage, id)).txStatus).toBe('BROADCASTING')
  node.produce()
  expect((await untilEnded(stage.service.root, id)).txStatus).toBe('INCLUDED')
})

test('sends: units are limited to what was needed and a fifth more, at the price that is usual', async () => {
  const stage = await setStage({ unitPrices: [9_000, 1_000, 2_000] })
  const { node, from } = stage
  const id = await submit(stage, draftOf([transferOf(from, receiver(), 1_000_000)], { payer: from }))
  const { solana } = await untilEnded(stage.service.root, id)
  const { bytes } = node.landed.get(solana!.signature!)!
  const [, limit, price] = Transaction.from(bytes).instructions
  expect(ComputeBudgetInstruction.decodeSetComputeUnitLimit(limit!)).toEqual({ units: 480 })
  expect(ComputeBudgetInstruction.decodeSetComputeUnitPrice(price!)).toEqual({ microLamports: 2_000n })
})

test.each([
  // 480 units, 64 more that may tell it from its like, and one signature: 136 lamports are left for them.
  { unitPrices: [900_000], more: { maxLamports: 5_136n }, price: 250_000 },
  { unitPrices: [900_000], more: {}, price: 900_000 },
  { unitPrices: [5_000_000], more: {}, price: 1_000_000 },
])('sends: on Solana no price that a node names costs more than the cap of a send: $price', async (one) => {
  const stage = await setStage({ unitPrices: one.unitPrices }, one.more)
  const { node, from } = stage
  const id = await submit(stage, draftOf([transferOf(from, receiver(), 1_000_000)], { payer: from }))
  const { solana } = await untilEnded(stage.service.root, id)
  const { bytes } = node.landed.get(solana!.signature!)!
  const [, , price] = Transaction.from(bytes).instructions
  expect(ComputeBudgetInstruction.decodeSetComputeUnitPrice(price!)).toEqual({ microLamports: BigInt(one.price) })
})
