/**
 * Many sends from a few senders, carried out by worker processes that share one rate, while the node loses every tenth
 * answer and dies, and a worker dies too. What must hold: each reference is in the chain once, and no nonce is missing.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countsOf, createPlanStore, type SendBatchProgress, type SendOrder } from '../../activities/index.ts'
import { assertWorker } from '../../src/operations/apply.ts'
import { connectTemporal, type TemporalSettings } from '../../src/worker/index.ts'
import type { sendBatch } from '../../workflows/index.ts'
import { startBetween } from '../faults/between.ts'
import { startTestService } from '../service/harness.ts'
import { type Anvil, type AnvilOptions, startAnvil } from '../service/sends/anvil.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { startUnreliableServer } from '../service/sends/unreliable-server.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { batchOf } from '../workflows/send-stage.ts'
import { keepsRate, mostIn, watchHoldUps } from './door.ts'
import { kill } from './field.ts'
import { line } from './figures.ts'
import { openStage, type Stage } from './stage.ts'
import { startWorkerProcess } from './start-worker.ts'
import type { WorkerProcessSettings } from './worker-process.ts'

/** What a worker process may take to start, where many start on few cores. */
const STARTING_MS = 30_000
/** A batch that is told nothing looks after ever longer pauses, up to a minute: told to look, it does so at once. */
const NUDGED_EACH_MS = 1_500
/** What the service takes to offer again what a crash of the node has taken out of the chain. */
const OFFERED_AGAIN_MS = 60_000

export interface ManySends {
  readonly sends: number
  readonly senders: number
  readonly workers: number
  readonly nodeKills: number
  readonly workerKills: number
  /** Answers of the node that were lost. */
  readonly lostAnswers: number
  readonly included: number
  /** Different transactions. */
  readonly hashes: number
  /** What the receiver has: each send pays one wei. */
  readonly paid: number
  /** Nonces that senders have used, together; every one of them is in the chain. */
  readonly nonces: number
  /** Most requests that were noted at the API within a second. */
  readonly mostInASecond: number
  /** How long nothing could be noted there, at most. */
  readonly heldUpMs: number
  /** Whether the rate was kept, as far as can be told. */
  readonly keptRate: boolean
  /** From the beginning until all were submitted. */
  readonly submittedAfterMs: number
  /** That came to the API until all were submitted. */
  readonly requests: number
  readonly seconds: number
}

const RECEIVER = '0x00000000000000000000000000000000000000b0'

export interface ManySendsOptions {
  readonly temporal: TemporalSettings
  readonly sends: number
  readonly senders: number
  readonly workers: number
  readonly requestsPerSecond: number
  /** @default 2 */
  readonly nodeKills?: number
  /** @default 1 */
  readonly workerKills?: number
  /** @default every tenth answer is lost */
  readonly nodeIsWell?: boolean
  /** @default followed to the end */
  readonly onlySubmitted?: boolean
  /** Whatever hangs, all that was started has ended soon after this: a test is given more. @default an hour */
  readonly mostMs?: number
  /** @default only the time ends it */
  readonly signal?: AbortSignal
}

export async function sendMany({ mostMs = 3_600_000, signal, ...options }: ManySendsOptions): Promise<ManySends> {
  const stage = openStage({ mostMs, ...(signal && { signal }) })
  return stage.run(() => send(options, stage))
}

async function send(options: ManySendsOptions, stage: Stage): Promise<ManySends> {
  const {
    temporal: server,
    sends,
    senders,
    workers: count,
    requestsPerSecond,
    nodeKills = 2,
    workerKills = 1,
  } = options
  const storeFolder = mkdtempSync(join(tmpdir(), 'quorate-many-'))
  stage.atEnd(async () => rmSync(storeFolder, { recursive: true, force: true, maxRetries: 5 }))
  const mining: AnvilOptions = { stateFile: join(storeFolder, 'chain.json'), mining: { everySeconds: 1 } }
  const startNode = async (): Promise<Anvil> => {
    const started = await startAnvil(mining)
    stage.atEnd(() => started.kill())
    return started
  }
  let anvil = await startNode()
  const node = await startUnreliableServer(anvil.url, (asked) => !options.nodeIsWell && asked % 10 === 0)
  stage.atEnd(() => node.close())
  // What is in a block counts only when no crash can take it back: the node's state is written each second.
  const service = await startTestService({
    chains: { [SEPOLIA]: { url: node.url, pollMs: 250, includedAfter: 4 } },
  })
  stage.atEnd(() => service.close())
  const times: number[] = []
  const holdUps = watchHoldUps()
  stage.atEnd(async () => holdUps.close())
  /** By what is submitted: when it first came. */
  const submits = new Map<number, number>()
  const between = await startBetween(service.url, ({ submits: isSubmit, question }) => {
    times.push(performance.now())
    if (isSubmit && !submits.has(question)) submits.set(question, times.at(-1)!)
    return undefined
  })
  stage.atEnd(() => between.close())
  const from: string[] = []
  for (let sender = 0; sender < senders; sender++) {
    from.push((await makeWallet(service.root, ETHEREUM)).accounts[0]!.address)
    await anvil.fund(from[sender]!, 100)
  }
  await stage.pause(1_500)

  const { organizationId, root } = service
  const bundleFile = join(storeFolder, 'bundle.js')
  writeFileSync(bundleFile, (await testBundle()).code)
  const settings: WorkerProcessSettings = {
    temporal: server,
    taskQueue: `many-${organizationId}`,
    baseUrl: between.url,
    organizationId,
    privateKey: root.privateKey,
    storeFolder,
    bundleFile,
    naive: false,
    requestsPerSecond,
    maxCachedWorkflows: 500,
  }
  const workers = new Set<ChildProcess>()
  const startWorker = () => {
    const worker = startWorkerProcess(settings)
    workers.add(worker)
    stage.atEnd(() => kill(worker))
  }
  for (let worker = 0; worker < count; worker++) startWorker()

  const store = createPlanStore(join(storeFolder, 'plans'))
  const batch = batchOf(Array.from({ length: sends }, (_, row) => orderOf(row)))
  await store.batches.put(batch)
  const temporal = await connectTemporal(server, testSeal)
  stage.atEnd(() => temporal.close())
  await assertWorker(temporal.client, settings.taskQueue, count * STARTING_MS)
  const handle = await temporal.client.workflow.start<typeof sendBatch>('sendBatch', {
    workflowId: `send-batch/${organizationId}/${batch.batchId}`,
    taskQueue: settings.taskQueue,
    args: [{ organizationId, batchId: batch.batchId }],
  })
  let ended: SendBatchProgress | undefined
  const result = handle.result().then((progress) => {
    ended = progress
  })
  result.catch(() => {})
  const nudging = setInterval(() => void handle.signal('nudge').catch(() => {}), NUDGED_EACH_MS)
  stage.atEnd(async () => clearInterval(nudging))
  const begun = performance.now()
  let submittedAt: number | undefined
  const killed = { nodes: 0, workers: 0 }
  const countNonces = async () => {
    const used = await Promise.all(from.map((one) => anvil.rpc<string>('eth_getTransactionCount', one, 'latest')))
    return used.reduce((sum, one) => sum + Number(one), 0)
  }
  // Reading the whole ledger again and again is work on the same cores, of which a batch that is measured has none to spare.
  while (options.onlySubmitted && ended === undefined && submits.size < sends)
    await Promise.race([stage.pause(500), result])
  while (ended === undefined && !options.onlySubmitted) {
    const stands = await store.batches.survey(batch)
    stage.standing = line(countsOf(stands))
    const submitted = stands.filter(({ progress }) => progress?.activityId).length
    if (submitted === sends) submittedAt ??= performance.now()
    if (killed.nodes < nodeKills && submitted > (sends * (killed.nodes + 1)) / (nodeKills + 1)) {
      await anvil.kill()
      killed.nodes++
      await stage.pause(300)
      anvil = await startNode()
      node.target = anvil.url
    }
    if (killed.workers < workerKills && submitted > (sends * (killed.workers + 1)) / (workerKills + 1)) {
      const [victim] = workers
      await kill(victim!)
      workers.delete(victim!)
      killed.workers++
      startWorker()
    }
    await Promise.race([stage.pause(500), result])
  }
  if (ended === undefined) await handle.terminate().then(() => result.catch(() => {}))
  const seconds = Math.round((performance.now() - begun) / 100) / 10
  const allSubmittedAt = [...submits.values()][sends - 1] ?? submittedAt ?? performance.now()
  const stands = await store.batches.survey(batch)
  // On a slow machine a block may count before the node's state is written, and be lost with the node.
  const offeredBy = performance.now() + (killed.nodes > 0 ? OFFERED_AGAIN_MS : 0)
  while ((await countNonces()) < sends && performance.now() < offeredBy) await stage.pause(200)
  return {
    sends,
    senders,
    workers: count,
    nodeKills: killed.nodes,
    workerKills: killed.workers,
    lostAnswers: node.counts.lost,
    included: stands.filter(({ state }) => state === 'included').length,
    hashes: new Set(stands.map(({ progress }) => progress?.transactionHash)).size,
    paid: Number(await anvil.rpc<string>('eth_getBalance', RECEIVER, 'latest')),
    nonces: await countNonces(),
    mostInASecond: mostIn(1_000, times),
    heldUpMs: holdUps.mostMs(),
    keptRate: keepsRate(times, requestsPerSecond, holdUps.mostMs()),
    submittedAfterMs: Math.round(allSubmittedAt - begun),
    requests: times.filter((time) => time <= allSubmittedAt).length,
    seconds,
  }

  function orderOf(row: number): SendOrder {
    return {
      reference: `MANY-${row}`,
      organization: { name: 'acme', id: organizationId, baseUrl: between.url },
      type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
      parameters: { from: from[row % senders]!, caip2: SEPOLIA, to: RECEIVER, value: '1' },
      from: 'treasury',
      to: 'payroll',
      amount: '1 wei',
      orderedAt: new Date().toISOString(),
    }
  }
}
