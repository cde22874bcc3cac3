/** As `judged.ts`, on Solana. */
import { expect, onTestFinished } from 'vitest'
import type { createService } from '../../../src/service/index.ts'
import { startFaultNode } from '../../faults/fault-node.ts'
import { draftOf, receiver, transferOf } from './solana-drafts.ts'
import { MAX_AGE, startSolanaNode } from './solana-node.ts'
import { manyLooks, setStage, signatureOf, startOn, statusOf, submit, untilTrue } from './solana-stage.ts'
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
    expect(await statusOf(stage, id)).toEqual({ txStatus: 'BROADCASTING', solana: { signature: first } })
    node.firstAvailableBlock = 0
    await untilTrue(() => node.offered.size === 2)
  },

  'one that was included in its last block is not signed anew by the word of a node that lags': async (create) => {
    const stage = await setStage(undefined, {}, create)
    const { node, from } = stage
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
}
