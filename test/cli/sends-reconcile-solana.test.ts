/** On Solana, where no nonce tells what is missing: a service whose records are behind the cluster pays nothing twice. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair, PublicKey } from '@solana/web3.js'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createPlanStore } from '../../activities/index.ts'
import { ensurePrivateFolder, writePrivate } from '../../src/local/index.ts'
import { orderOf } from '../activities/order.ts'
import { type FaultNode, startFaultNode } from '../faults/fault-node.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { draftOf, transferOf } from '../service/sends/solana-drafts.ts'
import { MAX_AGE, startSolanaNode, type TestSolanaNode } from '../service/sends/solana-node.ts'
import { submit, untilTrue } from '../service/sends/solana-stage.ts'
import { untilEnded } from '../service/sends/status.ts'
import { makeWallet, SOLANA } from '../service/signing/keys.ts'
import { quorateShared as quorate, testFolder } from './harness.ts'
import { reconcile, restored, stateOf, untilWaits } from './restored.ts'

const DEVNET = 'solana:devnet'
/** More than any blockhash that was given out before may still be used in. */
const LONG_AGO = MAX_AGE + 40

let node: TestSolanaNode
let front: FaultNode
const closers: (() => Promise<void>)[] = []
beforeEach(async () => {
  node = await startSolanaNode({ blocks: 'on-request' })
  front = await startFaultNode(node.url)
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await front.close()
  await node.close()
})

async function serve(dataDir?: string): Promise<TestService> {
  const chains = { [DEVNET]: { url: front.url, pollMs: 25 } }
  const service = await startTestService({ ...(dataDir && { dataDir }), chains, operator: true })
  closers.push(() => service.close())
  return service
}

async function fundedKey(service: TestService): Promise<PublicKey> {
  const from = new PublicKey((await makeWallet(service.root, SOLANA)).accounts[0]!.address)
  node.fund(from.toBase58(), 10)
  return from
}

interface Payment {
  readonly service: TestService
  readonly from: PublicKey
  readonly to: PublicKey
}

const paymentOf = ({ from, to }: Payment, amount: number) => draftOf([transferOf(from, to, amount)], { payer: from })
const pay = (payment: Payment, amount: number) => submit(payment, paymentOf(payment, amount))
const bodyOf = ({ service, from, to }: Payment, amount: number) =>
  service.body('ACTIVITY_TYPE_SOL_SEND_TRANSACTION', {
    unsignedTransaction: paymentOf({ service, from, to }, amount).toString('hex'),
    ...{ signWith: from.toBase58(), caip2: DEVNET },
  })

async function included(service: TestService, id: string) {
  await untilTrue(() => node.waiting.size > 0)
  node.produce(4)
  return untilEnded(service.root, id)
}

/** Nothing that was signed before can be included now, and the service has read so at two final slots. */
async function pastItsHashes(service: TestService, id: string): Promise<void> {
  node.produce(LONG_AGO)
  await vi.waitUntil(async () => (await stateOf(service, id)).txError?.includes('once more'))
  node.produce()
}

const behind = (service: TestService, afterSnapshot: () => Promise<void>) => restored(service, { afterSnapshot, serve })

test('sends reconcile: what was paid on Solana after a snapshot is not paid again, and is told as included once it is identified', async () => {
  const before = await serve()
  const payment = { from: await fundedKey(before), to: Keypair.generate().publicKey }
  await included(before, await pay({ ...payment, service: before }, 1_000_000))
  // Accepted and not signed, as while a node does not answer.
  front.fault = ({ method }) => (method === 'getLatestBlockhash' ? 'dropped' : undefined)
  const id = await pay({ ...payment, service: before }, 2_000_000)
  const lost = bodyOf({ ...payment, service: before }, 3_000_000)
  const after = await behind(before, async () => {
    front.fault = () => undefined
    await included(before, id)
    const { solSendTransactionResult } = (await before.root.send(lost)).result
    await included(before, solSendTransactionResult!.sendTransactionStatusId)
  })
  const landed = [...node.landed.keys()]
  expect(landed).toHaveLength(3)
  expect(await untilWaits(after, id)).toContain(`transaction ${landed[1]} and 1 more of ${payment.from.toBase58()}`)

  const early = await reconcile(after, '--yes')
  expect([early.exit, early.lanes[0]!.isHeld, early.lanes[0]!.nonces.map(({ is, hash }) => [is, hash])]).toEqual([
    3,
    true,
    [
      ['send', landed[1]],
      ['foreign', landed[2]],
    ],
  ])
  expect(await stateOf(after, id)).toEqual({ txStatus: 'INCLUDED', solana: { signature: landed[1] } })

  // The client of the one that the store has lost sends its bytes again.
  const again = (await after.root.send(lost)).result.solSendTransactionResult!.sendTransactionStatusId
  await expect.poll(() => untilWaits(after, again)).toContain('may be included up to block')
  await pastItsHashes(after, again)
  await vi.waitUntil(async () => (await stateOf(after, again)).txError?.includes(landed[2]!))
  const look = await quorate(['sends', 'reconcile', '--dry-run', '--folder', after.dataDir])
  expect([look.exit, look.stdout]).toEqual([
    3,
    expect.stringContaining(`0.003 SOL to ${payment.to.toBase58()}; is send ${again} of activity `),
  ])
  // By the ledger of the CLI it has paid another: the send is told as included by nothing.
  const dataDir = join(testFolder(), 'data')
  ensurePrivateFolder(join(dataDir, 'service'))
  const { organizationId } = after
  writePrivate(join(dataDir, 'service/bootstrap.json'), JSON.stringify({ organizationId }))
  const { sends } = createPlanStore(join(dataDir, 'plans'))
  const { activityId } = (await reconcile(after, '--dry-run')).lanes[0]!.nonces[0]!
  const entered = {
    MAR: { state: 'included', transactionHash: landed[2]! },
    APR: { state: 'broadcasting', activityId: activityId! },
  } as const
  for (const [reference, progress] of Object.entries(entered)) {
    const order = orderOf(reference)
    const { sendId } = await sends.enter({ ...order, organization: { ...order.organization, id: organizationId } })
    await sends.putProgress({ sendId, reference, ...progress })
  }
  const known = await quorate(['sends', 'reconcile', '--dry-run', '--folder', after.dataDir, '--data-dir', dataDir])
  expect(known.stdout).toContain('another payment: it has paid `MAR` of the ledger here\n')

  const claimed = await reconcile(after, '--yes')
  expect([claimed.exit, claimed.lanes[0]!.nonces.map(({ is }) => is)]).toEqual([0, ['send']])
  expect(await stateOf(after, again)).toEqual({ txStatus: 'INCLUDED', solana: { signature: landed[2] } })

  const last = await pay({ ...payment, service: after }, 4_000_000)
  expect((await included(after, last)).txStatus).toBe('INCLUDED')
  expect(node.balance(payment.to.toBase58())).toBe(10_000_000n)
  const nothing = await quorate(['sends', 'reconcile', '--folder', after.dataDir])
  expect([nothing.exit, nothing.stdout]).toEqual([0, 'No address has sent what is not in the records.\n'])
})

test('sends reconcile: on Solana nothing is signed while what was signed before a restore may still be included', async () => {
  const before = await serve()
  const payment = { from: await fundedKey(before), to: Keypair.generate().publicKey }
  await included(before, await pay({ ...payment, service: before }, 1_000_000))
  front.fault = ({ method }) => (method === 'getLatestBlockhash' ? 'dropped' : undefined)
  const id = await pay({ ...payment, service: before }, 2_000_000)
  const after = await behind(before, async () => {
    front.fault = () => undefined
    await untilTrue(() => node.waiting.size > 0)
  })
  expect(node.landed.size).toBe(1)
  await expect.poll(() => untilWaits(after, id)).toContain('may be included up to block')
  await manyTurns()
  expect(node.offered.size).toBe(2)
  node.produce(3)
  await vi.waitUntil(async () => (await stateOf(after, id)).txError?.includes('reconcile'))
  expect((await reconcile(after, '--yes')).lanes[0]!.nonces[0]).toMatchObject({ is: 'send', sendId: id })
  expect((await untilEnded(after.root, id)).txStatus).toBe('INCLUDED')
  node.produce(LONG_AGO)
  await manyTurns()
  expect([node.offered.size, node.balance(payment.to.toBase58())]).toEqual([2, 3_000_000n])
})

test('sends reconcile: a payment that was dated anew after a snapshot is that send, and --other says that it is another', async () => {
  const before = await serve()
  const payment = { from: await fundedKey(before), to: Keypair.generate().publicKey }
  node.drops = true
  const id = await pay({ ...payment, service: before }, 1_000_000)
  await untilTrue(() => node.waiting.size > 0)
  const after = await behind(before, async () => {
    node.produce(MAX_AGE + 5)
    node.produce()
    await untilTrue(() => node.offered.size === 2)
    node.drops = false
    await included(before, id)
  })
  const [signature] = node.landed.keys()
  expect(await untilWaits(after, id)).toContain(`transaction ${signature} of`)
  const [found] = (await reconcile(after, '--dry-run')).lanes[0]!.nonces
  expect(found).toMatchObject({ is: 'send', sendId: id, hash: signature, value: '1000000' })
  expect((await reconcile(after, '--dry-run', '--other', signature!)).lanes[0]!.nonces[0]!.is).toBe('other')
  await reconcile(after, '--yes', '--other', signature!)
  await pastItsHashes(after, id)
  await vi.waitUntil(async () => (await stateOf(after, id)).txError?.includes(`--pay ${id}`))
  const paid = await reconcile(after, '--yes', '--pay', id)
  expect([paid.exit, paid.lanes[0]!.sends]).toEqual([
    0,
    [expect.objectContaining({ sendId: id, receiver: payment.to.toBase58(), value: '1000000', word: 'pay' })],
  ])
  expect((await included(after, id)).txStatus).toBe('INCLUDED')
  expect([node.landed.size, node.balance(payment.to.toBase58())]).toEqual([2, 2_000_000n])
})

test.each<[string, object]>([
  ['nothing more', {}],
  ['with a node that does not answer at first', { loses: 3 }],
])(
  'sends reconcile: a folder that was copied back holds still on Solana for what its address has paid since, until that is identified, %s',
  async (_, { loses = 0 }: { readonly loses?: number }) => {
    const before = await serve()
    const payment = { from: await fundedKey(before), to: Keypair.generate().publicKey }
    await included(before, await pay({ ...payment, service: before }, 1_000_000))
    await before.service.close()
    const copy = join(testFolder(), 'copy')
    mkdirSync(copy, { mode: 0o700 })
    cpSync(before.dataDir, copy, { recursive: true })
    await before.restart()
    const lost = bodyOf({ ...payment, service: before }, 2_000_000)
    const { solSendTransactionResult } = (await before.root.send(lost)).result
    await included(before, solSendTransactionResult!.sendTransactionStatusId)
    await before.service.close()
    const [, signature] = node.landed.keys()

    let left = loses
    front.fault = ({ method }) => (method === 'getSignaturesForAddress' && left-- > 0 ? 'dropped' : undefined)
    const after = await serve(copy)
    const again = (await after.root.send(lost)).result.solSendTransactionResult!.sendTransactionStatusId
    expect(await untilWaits(after, again)).toContain(`transaction ${signature} of ${payment.from.toBase58()}`)
    expect(node.offered.size).toBe(2)
    expect(node.balance(payment.to.toBase58())).toBe(3_000_000n)

    const claimed = await reconcile(after, '--yes')
    expect([claimed.exit, claimed.lanes[0]!.isHeld, claimed.lanes[0]!.nonces]).toEqual([
      3,
      true,
      [expect.objectContaining({ is: 'send', sendId: again, hash: signature })],
    ])
    expect(await stateOf(after, again)).toEqual({ txStatus: 'INCLUDED', solana: { signature } })

    const last = await pay({ ...payment, service: after }, 4_000_000)
    // What it has seen before that is said until it looks again.
    await expect.poll(() => untilWaits(after, last)).toContain('may be included up to block')
    await pastItsHashes(after, last)
    expect((await included(after, last)).txStatus).toBe('INCLUDED')
    expect([node.landed.size, node.offered.size, node.balance(payment.to.toBase58())]).toEqual([3, 3, 7_000_000n])
    expect((await reconcile(after, '--yes')).exit).toBe(0)
  },
)

test('a service on Solana that is started again signs at once where nothing was paid that it does not know', async () => {
  const before = await serve()
  const payment = { from: await fundedKey(before), to: Keypair.generate().publicKey }
  await included(before, await pay({ ...payment, service: before }, 1_000_000))
  await before.restart()
  expect((await included(before, await pay({ ...payment, service: before }, 2_000_000))).txStatus).toBe('INCLUDED')
  expect(node.asked.get('getSignaturesForAddress')).toBe(1)
  expect((await included(before, await pay({ ...payment, service: before }, 3_000_000))).txStatus).toBe('INCLUDED')
  expect(node.asked.get('getSignaturesForAddress')).toBe(1)
})

/** Long enough for the service to look several times. */
const manyTurns = () => new Promise((resolve) => setTimeout(resolve, 300))
