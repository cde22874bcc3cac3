/** As `judged.ts`, on Solana. */
import { expect, onTestFinished } from 'vitest'
import type { createService } from '../../../src/service/index.ts'
import { type Fault, type FaultNode, startFaultNode } from '../../faults/fault-node.ts'
import { draftOf, receiver, transferOf } from './solana-drafts.ts'
import { MAX_AGE, startSolanaNode } from './solana-node.ts'
import {
  manyLooks,
  type SolanaStage,
  setStage,
  signatureOf,
  startOn,
  statusOf,
  submit,
  untilTrue,
} from './solana-stage.ts'
import { untilEnded } from './status.ts'

type Trial = (create?: typeof createService) => Promise<void>

export const SOLANA_TRIALS: Readonly<Record<string, Trial>> = {
  'what the service has dated is signed anew when the first can never be included, and not before': async (create) => {
    const stage = await setStage(undefined, {}, create)
    const { node, from } = stage
    const to = receiver()
    node.drops = true
    const id = await submit(stage, draftOf([transferOf(from, to, 1_000_000)], { payer: from }))
    const first = await signatureOf(stage, id)
    // It may be in the last block in which its blockhash may be used, and that one is not final yet.
    node.produce(MAX_AGE + 1)
    await manyLooks(node)
    expect([...node.offered.keys()]).toEqual([first])
    node.produce()
    const second = await untilTrue(async () => {
      const { solana } = await statusOf(stage, id)
      return solana?.signature !== first && solana?.signature
    })
    await untilTrue(() => node.waiting.has(second))
    node.drops = false
    node.produce(2)
    expect(await untilEnded(stage.service.root, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature: second } })
    node.produce(10)
    expect([[...node.landed.keys()], node.balance(to.toBase58())]).toEqual([[second], 1_000_000n])
  },

  'a node that has thrown away what was since the signing cannot tell, and nothing is signed anew': async (create) => {
    const stage = await setStage(undefined, {}, create)
    const { node, from } = stage
    node.drops = true
    const id = await submit(stage, draftOf([transferOf(from, receiver(), 1_000_000)], { payer: from }))
    const first = await signatureOf(stage, id)
    node.firstAvailableBlock = 1_100
    node.produce(MAX_AGE + 50)
    await manyLooks(node)
    expect(await statusOf(stage, id)).toMatchObject({
      txStatus: 'BROADCASTING',
      txError: expect.stringMatching(/^it is not known whether it was included: the node keeps no blocks from when/),
      solana: { signature: first },
    })
    node.firstAvailableBlock = 0
    await untilTrue(() => node.offered.size === 2)
  },

  'one that was included in its last block is not signed anew by the word of a node that lags': async (create) => {
    const { stage, front } = await setFaulty(create)
    const { node, from } = stage
    // As of another node behind the same address, which lags as a whole.
    front.fault = ({ method }) => DENIED[method]
    const to = receiver()
    node.drops = true
    const id = await submit(stage, draftOf([transferOf(from, to, 1_000_000)], { payer: from }))
    const signature = await signatureOf(stage, id)
    node.produce(MAX_AGE - 2)
    await untilTrue(() => node.waiting.has(signature))
    node.drops = false
    node.statusLag = 20
    node.produce(10)
    expect(node.landed.has(signature)).toBe(true)
    await manyLooks(node)
    expect([(await statusOf(stage, id)).txStatus, node.offered.size]).toEqual(['BROADCASTING', 1])
    node.statusLag = 0
    expect(await untilEnded(stage.service.root, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature } })
    expect(node.balance(to.toBase58())).toBe(1_000_000n)
  },

  'one that is in a block is not signed anew because a node that knows the newest slot denies it once': async (
    create,
  ) => {
    const node = await startSolanaNode({ blocks: 'on-request' })
    onTestFinished(() => node.close())
    const front = await startFaultNode(node.url)
    onTestFinished(() => front.close())
    let denials = 0
    front.fault = ({ method, params }) => {
      if (DENIED[method] && denials === 1) return DENIED[method]
      if (method !== 'getSignatureStatuses') return undefined
      const { searchTransactionHistory = false } = (params[1] ?? {}) as { readonly searchTransactionHistory?: boolean }
      return !searchTransactionHistory || denials++ === 0 ? { field: 'value', says: [] } : undefined
    }
    const stage = { node, ...(await startOn(front.url, node, { create })) }
    const to = receiver()
    const id = await submit(stage, draftOf([transferOf(stage.from, to, 1_000_000)], { payer: stage.from }))
    const signature = await signatureOf(stage, id)
    await untilTrue(() => node.waiting.has(signature))
    node.produce(MAX_AGE + 5)
    expect(await untilEnded(stage.service.root, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature } })
    expect([denials > 1, [...node.offered.keys()], node.balance(to.toBase58())]).toEqual([
      true,
      [signature],
      1_000_000n,
    ])
  },

  'one that is in a block is not signed anew by a node that always denies its status': async (create) => {
    const { stage, front } = await setFaulty(create)
    const { node } = stage
    front.fault = ({ method }) => (method === 'getSignatureStatuses' ? NO_STATUS : undefined)
    const to = receiver()
    const id = await submit(stage, draftOf([transferOf(stage.from, to, 1_000_000)], { payer: stage.from }))
    const signature = await signatureOf(stage, id)
    await untilTrue(() => node.waiting.has(signature))
    node.produce(MAX_AGE + 50)
    expect(await untilEnded(stage.service.root, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature } })
    expect([[...node.offered.keys()], node.balance(to.toBase58())]).toEqual([[signature], 1_000_000n])
  },

  'one that a node has, and no method that lists it tells, is not signed anew, and says why': async (create) => {
    const { stage, front } = await setFaulty(create)
    await staysOnce(stage, front, {
      denied: ({ method }) => (method === 'getTransaction' ? undefined : denial(method)),
      why: 'it is not known whether it was included: the node has the transaction, and no status of it',
    })
  },

  'one that a further node has is not signed anew by a node that denies it by every method': async (create) => {
    const { stage, front } = await setFaulty(create, ({ url }) => ({ witnesses: [url] }))
    await staysOnce(stage, front, {
      denied: ({ method }) => denial(method),
      why: 'it is not known whether it was included: a further node of the chain has it in a block',
    })
  },

  'one is not signed anew while a further node gives no answer, and says so': async (create) => {
    const node = await startSolanaNode({ blocks: 'on-request' })
    onTestFinished(() => node.close())
    const front = await startFaultNode(node.url)
    onTestFinished(() => front.close())
    const settings = { witnesses: [front.url] }
    const stage = { node, ...(await startOn(node.url, node, { settings, create })) }
    node.drops = true
    const id = await submit(stage, draftOf([transferOf(stage.from, receiver(), 1_000_000)], { payer: stage.from }))
    const first = await signatureOf(stage, id)
    front.fault = () => 'dropped'
    node.produce(MAX_AGE + 50)
    const txError = 'it is not known whether it was included: a further node of the chain gives no answer'
    await untilTrue(async () => (await statusOf(stage, id)).txError === txError)
    node.produce(50)
    await manyLooks(node)
    expect([...node.offered.keys()]).toEqual([first])
    front.fault = () => undefined
    await untilTrue(() => node.offered.size === 2)
  },

  'one that is settled by one node alone of two is not told as included': async (create) => {
    const node = await startSolanaNode({ blocks: 'on-request' })
    onTestFinished(() => node.close())
    const front = await startFaultNode(node.url)
    onTestFinished(() => front.close())
    front.fault = ({ method }) => denial(method)
    const settings = { witnesses: [front.url] }
    const stage = { node, ...(await startOn(node.url, node, { settings, create })) }
    const id = await submit(stage, draftOf([transferOf(stage.from, receiver(), 1_000_000)], { payer: stage.from }))
    const signature = await signatureOf(stage, id)
    await untilTrue(() => node.waiting.has(signature))
    node.produce(50)
    await manyLooks(node)
    expect(await statusOf(stage, id)).toEqual({ txStatus: 'BROADCASTING', solana: { signature } })
    front.fault = () => undefined
    expect(await untilEnded(stage.service.root, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature } })
  },

  'one that a node says has failed, and shows as done, is not told as failed': async (create) => {
    const { stage, front } = await setFaulty(create)
    const { node } = stage
    const id = await submit(stage, draftOf([transferOf(stage.from, receiver(), 1_000_000)], { payer: stage.from }))
    const signature = await signatureOf(stage, id)
    await untilTrue(() => node.waiting.has(signature))
    front.fault = ({ method }) => (method === 'getSignatureStatuses' ? settledAt(1_001, FAILS) : undefined)
    node.produce(50)
    const txError = 'it is in a block, and not known whether it failed there: the node says both'
    await untilTrue(async () => (await statusOf(stage, id)).txError === txError)
    expect(await statusOf(stage, id)).toMatchObject({ txStatus: 'BROADCASTING' })
    front.fault = () => undefined
    expect(await untilEnded(stage.service.root, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature } })
  },

  'one that a node says once is settled, and that is in no block, is neither included nor failed': async (create) => {
    const { stage, front } = await setFaulty(create)
    const { node } = stage
    node.drops = true
    const id = await submit(stage, draftOf([transferOf(stage.from, receiver(), 1_000_000)], { payer: stage.from }))
    const signature = await signatureOf(stage, id)
    await untilTrue(() => node.waiting.has(signature))
    const errors = [null, FAILS]
    front.fault = ({ method }) => {
      if (method !== 'getSignatureStatuses' || errors.length === 0) return undefined
      return settledAt(1_001, errors.shift())
    }
    const looks = () => node.asked.get('getSignatureStatuses')!
    await untilTrue(() => errors.length === 0)
    const before = looks()
    await untilTrue(() => looks() > before + 4)
    expect(await statusOf(stage, id)).toMatchObject({ txStatus: 'BROADCASTING' })
    node.drops = false
    node.produce(50)
    expect(await untilEnded(stage.service.root, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature } })
  },

  'one that a node says for long is settled, and its block has not, is neither included nor failed, and says so':
    async (create) => {
      const { stage, front } = await setFaulty(create)
      const { node } = stage
      node.drops = true
      const id = await submit(stage, draftOf([transferOf(stage.from, receiver(), 1_000_000)], { payer: stage.from }))
      const signature = await signatureOf(stage, id)
      const txError = 'the node says that it is in the block of slot 1001, and that block has it not'
      for (const err of [null, FAILS]) {
        front.fault = ({ method }) => (method === 'getSignatureStatuses' ? settledAt(1_001, err) : undefined)
        await untilTrue(async () => (await statusOf(stage, id)).txError === txError)
        await manyLooks(node)
        expect(await statusOf(stage, id)).toMatchObject({ txStatus: 'BROADCASTING' })
      }
      front.fault = () => undefined
      node.drops = false
      await untilTrue(() => node.waiting.has(signature))
      node.produce(50)
      expect(await untilEnded(stage.service.root, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature } })
    },

  'one that a node that keeps no blocks says is settled counts when it says so at a later slot, as far as it has come':
    async (create) => {
      const { stage, front } = await setFaulty(create)
      const { node } = stage
      node.firstAvailableBlock = 5_000
      front.fault = ({ method }) => (method === 'getSignatureStatuses' ? settledAt(1_010, null) : DENIED[method])
      const id = await submit(stage, draftOf([transferOf(stage.from, receiver(), 1_000_000)], { payer: stage.from }))
      const signature = await signatureOf(stage, id)
      await manyLooks(node)
      expect(await statusOf(stage, id)).toEqual({ txStatus: 'BROADCASTING', solana: { signature } })
      node.produce(10)
      expect(await untilEnded(stage.service.root, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature } })
    },

  'one is not given up because a Solana node says once that it would fail, nor while a further node does not say so':
    async (create) => {
      const { stage, front } = await setFaulty(create, ({ url }) => ({ witnesses: [url] }))
      const { node } = stage
      let isFirst = true
      const failing: FaultNode['fault'] = ({ method }) =>
        method === 'simulateTransaction' ? { field: 'value', says: { err: FAILS, logs: [] } } : undefined
      front.fault = (ask) => (isFirst && ask.method === 'simulateTransaction' ? failing(ask) : undefined)
      const pay = () => submit(stage, draftOf([transferOf(stage.from, receiver(), 1_000_000)], { payer: stage.from }))
      const says = (id: string, why: string) =>
        untilTrue(async () =>
          (await statusOf(stage, id)).txError?.startsWith(`a node refuses it before it is signed, and ${why}: `),
        )
      const first = await pay()
      await says(first, 'the node is asked again')
      isFirst = false
      await signatureOf(stage, first)
      front.fault = failing
      const second = await pay()
      await says(second, 'the node is asked again')
      node.produce()
      await says(second, 'a further node does not say so')
      await manyLooks(node)
      expect((await statusOf(stage, second)).txStatus).toBe('INITIALIZED')
      front.fault = () => undefined
      await signatureOf(stage, second)
    },

  'one that a node refuses for good, and hands on, is included': async (create) => {
    const { stage, front } = await setFaulty(create)
    front.fault = ({ method }) => (method === 'sendTransaction' ? { done: true, ...INVALID } : undefined)
    const id = await submit(stage, draftOf([transferOf(stage.from, receiver(), 1_000_000)], { payer: stage.from }))
    const signature = await signatureOf(stage, id)
    await untilTrue(async () => (await statusOf(stage, id)).txError === 'Invalid params')
    stage.node.produce(50)
    expect(await untilEnded(stage.service.root, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature } })
  },

  'one that a node refuses for good has failed when nobody has it and its blockhash is gone': async (create) => {
    const { stage, front } = await setFaulty(create)
    front.fault = ({ method }) => (method === 'sendTransaction' ? INVALID : undefined)
    const id = await submit(stage, draftOf([transferOf(stage.from, receiver(), 1_000_000)], { payer: stage.from }))
    await untilTrue(async () => (await statusOf(stage, id)).txError === 'Invalid params')
    expect(await statusOf(stage, id)).toMatchObject({ txStatus: 'BROADCASTING' })
    stage.node.produce(MAX_AGE + 50)
    expect(await untilEnded(stage.service.root, id)).toMatchObject({ txStatus: 'FAILED', txError: 'Invalid params' })
  },

  'a blockhash that may still be used is not taken for expired by the height that a node gave with it': async (
    create,
  ) => {
    const { stage, front } = await setFaulty(create)
    const { node } = stage
    front.fault = ({ method }) =>
      method === 'getLatestBlockhash'
        ? { field: 'value', says: { blockhash: node.blockhash(), lastValidBlockHeight: 1 } }
        : undefined
    node.drops = true
    const id = await submit(stage, draftOf([transferOf(stage.from, receiver(), 1_000_000)], { payer: stage.from }))
    const first = await signatureOf(stage, id)
    node.produce(40)
    await manyLooks(node)
    expect([...node.offered.keys()]).toEqual([first])
  },
}

const INVALID = { error: { code: -32_602, message: 'Invalid params' } }
const FAILS = { InstructionError: [0, { Custom: 1 }] }
const settledAt = (slot: number, err: unknown): Fault => ({
  field: 'value',
  says: [{ slot, confirmations: null, confirmationStatus: 'finalized', err }],
})
const NO_STATUS: Fault = { field: 'value', says: [null] }
/** How each method that would tell of a transaction denies it. */
const DENIED: Readonly<Record<string, Fault>> = {
  getSignaturesForAddress: { result: [] },
  getTransaction: { result: null },
}
const denial = (method: string) => (method === 'getSignatureStatuses' ? NO_STATUS : DENIED[method])

/** A stage whose node answers through one that may not. */
async function setFaulty(
  create?: typeof createService,
  settingsOf: (node: { readonly url: string }) => object = () => ({}),
) {
  const node = await startSolanaNode({ blocks: 'on-request' })
  onTestFinished(() => node.close())
  const front = await startFaultNode(node.url)
  onTestFinished(() => front.close())
  return { front, stage: { node, ...(await startOn(front.url, node, { settings: settingsOf(node), create })) } }
}

/** A send that is included while nothing tells of it is offered once, says why it waits, and is told as included when that is over. */
async function staysOnce(
  stage: SolanaStage,
  front: FaultNode,
  { denied, why }: { readonly denied: FaultNode['fault']; readonly why: string },
): Promise<void> {
  const { node, from, service } = stage
  const to = receiver()
  front.fault = denied
  const id = await submit(stage, draftOf([transferOf(from, to, 1_000_000)], { payer: from }))
  const signature = await signatureOf(stage, id)
  await untilTrue(() => node.waiting.has(signature))
  node.produce(MAX_AGE + 50)
  await untilTrue(async () => (await statusOf(stage, id)).txError === why)
  await manyLooks(node)
  node.produce(MAX_AGE + 50)
  await manyLooks(node)
  expect([[...node.offered.keys()], node.balance(to.toBase58())]).toEqual([[signature], 1_000_000n])
  front.fault = () => undefined
  expect(await untilEnded(service.root, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature } })
}
