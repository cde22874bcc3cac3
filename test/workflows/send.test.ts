/** The send workflow, the real client, the real service and a real node: nothing between them is a double. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createActivities,
  createPlanStore,
  type SendOrder,
  type SendProgress,
  sendIdOf,
} from '../../activities/index.ts'
import { encodeSolanaPayment, normalizeCaip2 } from '../../src/chain/index.ts'
import { createSubmitClient } from '../../src/client/index.ts'
import { encodeHex } from '../../src/encoding/index.ts'
import { progressOfSends } from '../../src/operations/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret, silentLogger } from '../../src/telemetry/index.ts'
import { createWorker, type TemporalConnections } from '../../src/worker/index.ts'
import type { send } from '../../workflows/index.ts'
import { complete } from '../service/handlers/steps.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { type Anvil, startAnvil } from '../service/sends/anvil.ts'
import { startSolanaNode, type TestSolanaNode } from '../service/sends/solana-node.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { startUnreliableServer, type UnreliableServer } from '../service/sends/unreliable-server.ts'
import { ETHEREUM, makeWallet, SOLANA } from '../service/signing/keys.ts'
import { connectTestTemporal } from '../temporal.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { askUntil } from './asking.ts'
import { createReplayer, type Replayer } from './recorded.ts'

const DEVNET = normalizeCaip2('solana:devnet')
const RECEIVER = '0x00000000000000000000000000000000000000b0'
/** Reverts, whatever it is called with. */
const REVERTS = '0x00000000000000000000000000000000000000fd'

const folder = mkdtempSync(join(tmpdir(), 'quorate-send-'))
const store = createPlanStore(join(folder, 'plans'))
let anvil: Anvil
let service: TestService
let api: UnreliableServer
let temporal: TemporalConnections
let from: string
let solana: TestSolanaNode
let fromOnSolana: string
let bob: Awaited<ReturnType<typeof createTestUser>>
let replayer: Replayer
let stopWorker: () => Promise<void>
/** How many answers to submits are still to be lost. */
let toLose = 0
/** Private key of the worker. */
let workerKey: string

beforeAll(async () => {
  anvil = await startAnvil()
  await anvil.rpc('anvil_setCode', REVERTS, '0x60006000fd')
  solana = await startSolanaNode()
  const chains = { [SEPOLIA]: { url: anvil.url, pollMs: 50 }, [DEVNET]: { url: solana.url, pollMs: 50 } }
  service = await startTestService({ chains })
  ;[from, fromOnSolana] = (await makeWallet(service.root, ETHEREUM, SOLANA)).accounts.map(({ address }) => address) as [
    string,
    string,
  ]
  await anvil.fund(from, 100)
  solana.fund(fromOnSolana, 10)
  bob = await createTestUser(service, 'bob')
  api = await startUnreliableServer(service.url, (_, path) => path.includes('/submit/') && toLose-- > 0)
  temporal = await connectTestTemporal()
  const { organizationId } = service
  workerKey = service.root.privateKey
  const clientFor = () => {
    const stamper = createApiKeyStamper({ privateKey: new Secret(workerKey) })
    return createSubmitClient({ baseUrl: api.url, organizationId, stamper })
  }
  const workflowBundle = await testBundle()
  replayer = createReplayer(workflowBundle)
  const worker = await createWorker({
    connection: await temporal.openForWorker(),
    seal: testSeal,
    taskQueue: organizationId,
    activities: createActivities({ clientFor, planStore: store, clock: Date.now, logger: silentLogger }),
    workflowBundle,
    maxCachedWorkflows: 0,
  })
  const running = worker.run()
  stopWorker = async () => {
    worker.shutdown()
    await running
  }
})

afterAll(async () => {
  await stopWorker()
  await replayer.close()
  await temporal.close()
  await api.close()
  await service.close()
  await anvil.kill()
  await solana.close()
  rmSync(folder, { recursive: true, force: true })
})

function orderOf(reference: string, parameters: object = {}): SendOrder {
  return {
    reference,
    organization: { name: 'acme', id: service.organizationId, baseUrl: service.url },
    type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
    parameters: { from, caip2: SEPOLIA, to: RECEIVER, value: '1', ...parameters },
    from: 'treasury',
    to: 'payroll',
    amount: '1 wei',
    orderedAt: new Date().toISOString(),
  }
}

/** The same on Solana. */
function solanaOrderOf(reference: string, to: string): SendOrder {
  const transaction = encodeSolanaPayment({ from: fromOnSolana, to, amount: 1_000_000_000n })
  const parameters = { unsignedTransaction: encodeHex(transaction), signWiths: [fromOnSolana], caip2: DEVNET }
  return { ...orderOf(reference), type: 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2', parameters, amount: '1 SOL' }
}

async function begin(order: SendOrder, run = '') {
  return start((await store.sends.enter(order)).sendId, run)
}

async function start(sendId: string, run = '') {
  const { organizationId } = service
  return temporal.client.workflow.start<typeof send>('send', {
    workflowId: `send/${organizationId}/${sendId}${run}`,
    taskQueue: organizationId,
    args: [{ organizationId, sendId }],
  })
}

/** Awaits the end; the history must replay. `record` keeps it under that name when histories are recorded. */
async function ended(handle: Awaited<ReturnType<typeof begin>>, record?: string): Promise<SendProgress> {
  const result = await handle.result()
  await replayer.replayOf(handle, record)
  return result
}

/** The same without the waits between tries, of which there are many: news ends each. */
async function endedSoon(handle: Awaited<ReturnType<typeof begin>>): Promise<SendProgress> {
  const impatient = setInterval(() => void handle.signal('nudge').catch(() => {}), 250)
  const result = await ended(handle)
  clearInterval(impatient)
  return result
}

async function countSends(): Promise<number> {
  const { activities } = await service.root.query('list_activities', {
    filterByType: ['ACTIVITY_TYPE_ETH_SEND_TRANSACTION'],
    paginationOptions: { limit: '100' },
  })
  return activities.length
}

describe('send', () => {
  test('it is submitted, tracked and included; begun again it is the same send', async () => {
    const before = await countSends()
    const order = orderOf('INV-1')
    const first = await ended(await begin(order), 'sent')
    expect(first).toMatchObject({
      state: 'included',
      reference: 'INV-1',
      transactionHash: expect.stringMatching(/^0x/),
    })
    expect(await store.sends.getProgress(sendIdOf(order))).toEqual(first)
    // As from another machine, which knows nothing of the workflow that has ended.
    const again = await ended(await begin(order, '/again'))
    expect(again.transactionHash).toBe(first.transactionHash)
    expect(await countSends()).toBe(before + 1)
  })

  test('ten answers to the submit are lost, and it is sent once', async () => {
    const before = await countSends()
    const lostBefore = api.counts.lost
    toLose = 10
    const { state } = await endedSoon(await begin(orderOf('INV-2')))
    const lost = api.counts.lost - lostBefore
    console.log(`lostAnswers=${lost} sends=${(await countSends()) - before}`)
    expect({ state, lost, sends: (await countSends()) - before }).toEqual({ state: 'included', lost: 10, sends: 1 })
  })

  test('on Solana too, answers are lost and it is paid once; where it is and what it has cost is known', async () => {
    const [to] = (await makeWallet(service.root, SOLANA)).accounts.map(({ address }) => address)
    const lostBefore = api.counts.lost
    toLose = 3
    const progress = await endedSoon(await begin(solanaOrderOf('SOL-1', to!)))
    expect(api.counts.lost - lostBefore).toBe(3)
    expect([solana.landed.size, solana.balance(to!)]).toEqual([1, 1_000_000_000n])
    const [signature, { slot }] = [...solana.landed][0]!
    const fee = { amount: '5000', caip19: `${DEVNET}/slip44:501` }
    expect(progress).toMatchObject({
      state: 'included',
      transactionHash: signature,
      receipt: { block: String(slot), fee },
    })
  })

  test('two sends of the same amount are two sends', async () => {
    const before = BigInt(await anvil.rpc<string>('eth_getBalance', RECEIVER, 'latest'))
    await Promise.all([begin(orderOf('INV-3')), begin(orderOf('INV-4'))].map(async (handle) => ended(await handle)))
    expect(BigInt(await anvil.rpc<string>('eth_getBalance', RECEIVER, 'latest'))).toBe(before + 2n)
  })

  test('a reverted transaction has failed, with its hash and the reason, and is not sent again', async () => {
    const before = await countSends()
    const progress = await ended(await begin(orderOf('INV-5', { to: REVERTS, gasLimit: '60000' })), 'reverted')
    expect(progress).toMatchObject({
      state: 'failed',
      transactionHash: expect.stringMatching(/^0x/),
      error: { code: 'apply/transaction-reverted', message: 'execution reverted: execution reverted' },
    })
    expect(await countSends()).toBe(before + 1)
  })

  test('what the API refuses has failed, and nothing is sent', async () => {
    const before = await countSends()
    const progress = await ended(await begin(orderOf('INV-6', { from: RECEIVER })))
    expect(progress).toMatchObject({ state: 'failed', error: { message: expect.stringContaining('sign with') } })
    expect(await countSends()).toBe(before)
  })

  test('one that was stopped before it was submitted ends as that, and its reference can be sent', async () => {
    const order = orderOf('INV-STOPPED')
    const { sendId } = await store.sends.enter(order)
    expect(await store.sends.stop(sendId)).toBe(true)
    const stopped = await ended(await start(sendId), 'send-stopped')
    expect(stopped).toMatchObject({ state: 'stopped', error: { code: 'apply/send-stopped' } })
    expect(await store.sends.getProgress(sendId)).toBeUndefined()
    const other = { ...order, parameters: orderOf('', { value: '2' }).parameters }
    expect(await ended(await begin(other))).toMatchObject({ sendId, state: 'included' })
  })

  test('a worker with the key of another user submits nothing, says so in the ledger too, and one with the right key goes on', async () => {
    const before = await countSends()
    const order = { ...orderOf('INV-OF-ROOT'), by: byRoot() }
    workerKey = bob.privateKey
    const handle = await begin(order)
    const refused = await askUntil(
      () => handle.query<SendProgress>('progress'),
      ({ error }) => error !== undefined,
    )
    const message = "`INV-OF-ROOT` was ordered by root, and this worker has bob's key"
    expect(refused.error).toMatchObject({ code: 'apply/other-user', message })
    const { sendId, reference } = refused
    expect(await store.sends.getProgress(sendId)).toMatchObject({
      sendId,
      reference,
      state: 'submitting',
      error: { message },
    })
    expect(await store.sends.isAsked(sendId)).toBe(false)
    expect(await countSends()).toBe(before)
    // As those are told who hear of what is stuck.
    const { organizationId } = service
    const place = { client: temporal.client, taskQueue: organizationId, organizationId }
    const [running] = await askUntil(
      () => progressOfSends(place),
      (all) => all.some((one) => one.sendId === sendId),
    )
    expect(running).toMatchObject({ sendId, state: 'submitting', error: { message } })
    workerKey = service.root.privateKey
    expect(await endedSoon(handle)).toMatchObject({ state: 'included' })
    expect(await store.sends.getProgress(sendId)).not.toHaveProperty('error')
    expect(await countSends()).toBe(before + 1)
  })

  test('one that is refused so can be stopped', async () => {
    workerKey = bob.privateKey
    const handle = await begin({ ...orderOf('INV-REFUSED'), by: byRoot() })
    const { sendId } = await askUntil(
      () => handle.query<SendProgress>('progress'),
      ({ error }) => error !== undefined,
    )
    expect(await store.sends.stop(sendId)).toBe(true)
    workerKey = service.root.privateKey
    expect(await endedSoon(handle)).toMatchObject({ state: 'stopped' })
  })

  test('it waits for approval as long as it takes, and goes on; a rejection is its end', async () => {
    await complete(service.root, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', {
      threshold: 2,
      userIds: [service.rootUserId, bob.userId],
    })
    const [approved, rejected] = [
      await begin({ ...orderOf('INV-7'), by: byRoot() }),
      await begin({ ...orderOf('INV-8'), by: byRoot() }),
    ]
    const waiting = await Promise.all([approved, rejected].map(untilWaiting))
    expect(waiting.map(({ approved: by }) => by)).toEqual([['root'], ['root']])
    // A worker that has another user's key would be the second approval.
    workerKey = bob.privateKey
    const polled = (await countSteps(approved)) + 2
    await askUntil(
      async () => {
        await approved.signal('nudge')
        return countSteps(approved)
      },
      (steps) => steps >= polled,
    )
    const asked = await approved.query<SendProgress>('progress')
    expect(asked).toMatchObject({ state: 'waiting', approved: ['root'] })
    expect(asked).not.toHaveProperty('error')
    workerKey = service.root.privateKey
    await bob.client.approve(waiting[0]!.fingerprint!)
    await bob.client.reject(waiting[1]!.fingerprint!)
    await Promise.all([approved, rejected].map((handle) => handle.signal('nudge')))
    expect(await ended(approved, 'send-approved')).toMatchObject({ state: 'included' })
    expect(await ended(rejected, 'send-rejected')).toMatchObject({
      state: 'rejected',
      error: { code: 'apply/rejected', message: 'rejected by bob' },
    })
  })
})

const byRoot = () => ({
  userId: service.rootUserId,
  userName: 'root',
  publicKey: service.root.publicKey,
})

/** How many steps of a workflow have been done. */
async function countSteps(handle: Awaited<ReturnType<typeof begin>>): Promise<number> {
  const { events } = await handle.fetchHistory()
  return (events ?? []).filter(({ activityTaskCompletedEventAttributes: done }) => done).length
}

function untilWaiting(handle: Awaited<ReturnType<typeof begin>>): Promise<SendProgress> {
  return askUntil(
    () => handle.query<SendProgress>('progress'),
    ({ state }) => state === 'waiting',
  )
}
