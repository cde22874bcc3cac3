/**
 * Payments by two machines while everything fails by a seeded schedule: the node answers late, never, of the past, of another
 * transaction or with a refusal after the deed, and its blocks are taken back; each machine's worker, the service and Temporal
 * are killed; the service is restored from a snapshot; blockhashes of Solana expire while statuses lag; somebody else who has the keys uses
 * nonces of Ethereum for payments of their own. Judged by all blocks of the chain, read from the node itself by nothing
 * of the service's: each reference is paid once, told as it is, and for no more than its ceiling, or told as replaced by what has its nonce.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  createPlanStore,
  failedHow,
  isSendOver,
  type PlanStore,
  type SendOrder,
  type SendProgress,
  sendIdOf,
} from '../../activities/index.ts'
import { createSubmitClient, type SubmitClient } from '../../src/client/index.ts'
import { QuorateError } from '../../src/diagnostics/index.ts'
import { assertNotElsewhere } from '../../src/sending/index.ts'
import { restoreSnapshot, saveSnapshot } from '../../src/service/index.ts'
import { askAboutLanes, shownKeys } from '../../src/service/operator/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { connectTemporal, findTemporal, startTemporalServer, type TemporalConnections } from '../../src/worker/index.ts'
import { ensureNamespace } from '../../src/worker/namespace.ts'
import type { send, sendBatch } from '../../workflows/index.ts'
import { sendBatchWorkflowId, sendWorkflowId } from '../../workflows/names.ts'
import { drawFault, FAULTS, type FaultNode, fromReplica, startFaultNode, startReplica } from '../faults/fault-node.ts'
import { readClient, startProcess } from '../service/process.ts'
import { accountsOf } from '../service/signing/keys.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { batchOf } from '../workflows/send-stage.ts'
import { drawing, pick } from './drawing.ts'
import { kill } from './field.ts'
import { type PaidChain, startPaidChain } from './paid-chain.ts'
import { openStage, type Stage } from './stage.ts'
import { startWorkerProcess } from './start-worker.ts'
import type { WorkerProcessSettings } from './worker-process.ts'

/** Of a hundred questions so many are answered wrongly, or not at all. */
const FAULTY = 25
/** Of a hundred references so many are begun on both machines at once. */
const BOTH = 20
/** Of a hundred references so many are begun by a send alone, and all others in a batch. */
const ALONE = 10
const SENDERS = 3
const QUEUE = 'schedule'
/** So many are begun at once, and then something dies, while what was begun before them may be open still. */
const MOST_AT_ONCE = 20
/** So often what is open looks at once: it may be waiting for the next try of a step that met a fault. */
const NUDGED_EACH_MS = 8_000

export interface Scheduled {
  readonly payments: number
  readonly kinds: number
  /** How often blocks were taken back, on the chain where it was least often. */
  readonly reorganised: number
  /** Payments on Solana that were signed anew, since their blockhash had expired. */
  readonly datedAnew: number
  readonly kills: number
  readonly restores: number
  /** References that were begun on both machines. */
  readonly both: number
  /** Times that a reference was refused since another one has its times by chance, and was said to be another. */
  readonly chances: number
  /** References that no block has, that more than one transaction has, and whose amount is another. */
  readonly unpaid: number
  readonly twice: number
  readonly wrong: number
  /** Ends that are not the chain's, in the ledger of either machine. */
  readonly mistold: number
  /** Transactions that cost more than their ceiling. */
  readonly dear: number
  /** References whose nonce somebody else who has the key has used: none is paid, and each is told so. */
  readonly replaced: number
  /** What all receivers have is what all references say that were not replaced. */
  readonly sums: 'equal' | 'differ'
}

export interface ScheduleOptions {
  /** So many in all, in turn on Ethereum and on Solana. */
  readonly count: number
  readonly seed: number
  /** What the trial must show to be wrong. @default all is as it is */
  readonly naive?: {
    /** The file of a service that has left out a rule. */
    readonly program?: string
    /** Workers make a body anew for each try. */
    readonly remakesBodies?: boolean
    /** Faults of nodes, all others left out, and how many of a hundred answers have one: the rule is needed often. */
    readonly faults?: { readonly of: readonly string[]; readonly ofHundred: number }
  }
  readonly mostMs?: number
  readonly signal?: AbortSignal
}

export async function payBySchedule({ mostMs = 7_200_000, signal, ...options }: ScheduleOptions): Promise<Scheduled> {
  const stage = openStage({ mostMs, ...(signal && { signal }) })
  return stage.run(() => pay(options, stage))
}

interface Machine {
  readonly name: string
  readonly store: PlanStore
  /** Of its namespace. Each machine has a Temporal of its own in life; what dies here are both at once. */
  readonly temporal: TemporalConnections
  worker?: ChildProcess
  readonly begun: Map<string, SendOrder>
  /** Workflows of sends and batches, with the sends that they are to end. */
  readonly runs: { readonly workflowId: string; readonly sendIds: readonly string[] }[]
}

async function pay({ count, seed, naive = {} }: ScheduleOptions, stage: Stage): Promise<Scheduled> {
  const draw = drawing(seed)
  const folder = mkdtempSync(join(tmpdir(), 'quorate-schedule-'))
  stage.atEnd(async () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const chains = [await startPaidChain('ethereum', stage), await startPaidChain('solana', stage)] as const
  const chainOf = (index: number) => chains[index % 2]!
  const nodes: FaultNode[] = []
  const replicas: FaultNode[] = []
  for (const { url } of chains) {
    const [node, replica] = [await startFaultNode(url), await startReplica(url)]
    nodes.push(node)
    replicas.push(replica)
    stage.atEnd(() => Promise.all([node.close(), replica.close()]))
  }
  const served = chains.map(({ caip2, settings }, at) => [caip2, { ...settings, url: nodes[at]!.url }])
  const { program, faults } = naive
  const serving = { chains: Object.fromEntries(served), operator: true, ...(program && { program }) }
  let dataDir = join(folder, 'service')
  mkdirSync(dataDir, { mode: 0o700 })
  let service = await startProcess(dataDir, serving)
  stage.atEnd(() => service.end('SIGKILL'))
  const port = Number(new URL(service.url).port)
  const { organizationId } = readClient(dataDir)
  const { apiPrivateKey } = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8')) as Record<string, string>
  const stamper = createApiKeyStamper({ privateKey: new Secret(apiPrivateKey!) })
  const client = createSubmitClient({ baseUrl: service.url, organizationId, stamper })
  const senders: (readonly string[])[] = []
  for (const chain of chains) senders.push(await makeSenders(service.url, { client, dataDir, chain }))

  const temporalFolder = join(folder, 'temporal')
  const binary = await findTemporal({ announce: () => {} })
  let server = await startTemporalServer({ binary, folder: temporalFolder, announce: () => {} })
  stage.atEnd(() => server.stop())
  const temporalPort = Number(server.address.split(':')[1])
  let isUp: Promise<unknown> = Promise.resolve()
  const bundleFile = join(folder, 'bundle.js')
  writeFileSync(bundleFile, (await testBundle()).code)
  const startWorker = (machine: Machine) => {
    const settings: WorkerProcessSettings = {
      temporal: { address: server.address, tls: server.tls, namespace: machine.name },
      taskQueue: QUEUE,
      baseUrl: service.url,
      organizationId,
      privateKey: apiPrivateKey!,
      storeFolder: join(folder, machine.name),
      bundleFile,
      naive: naive.remakesBodies ?? false,
      maxCachedWorkflows: 500,
    }
    const worker = startWorkerProcess(settings)
    machine.worker = worker
    stage.atEnd(() => kill(worker))
    // One that cannot reach Temporal ends, as a service manager sees, which begins it when there is one.
    worker.once('exit', async () => {
      await Promise.all([delay(300), isUp])
      if (!stage.signal.aborted) startWorker(machine)
    })
  }
  const startMachine = async (name: string): Promise<Machine> => {
    mkdirSync(join(folder, name), { mode: 0o700 })
    const temporal = await connectTemporal({ address: server.address, tls: server.tls, namespace: name }, testSeal)
    stage.atEnd(() => temporal.close())
    await untilThere(() => ensureNamespace(temporal.client.connection, { namespace: name, retentionDays: 1 }))
    const store = createPlanStore(join(folder, name, 'plans'))
    const machine: Machine = { name, store, temporal, begun: new Map(), runs: [] }
    startWorker(machine)
    return machine
  }
  const untilThere = (work: () => Promise<unknown>): Promise<unknown> =>
    work().catch(() => stage.pause(200).then(() => untilThere(work)))
  const machines = [await startMachine('one'), await startMachine('two')] as const

  const befell = new Set<string>()
  const once = new Set<string>()
  const answering = drawing(seed + 1)
  const faultsOf = (chain: PaidChain, replica: FaultNode): FaultNode['fault'] => {
    const all = [...Object.entries(FAULTS), ...fromReplica(replica)]
    return (ask) => {
      if (answering(100) >= (faults?.ofHundred ?? FAULTY)) return undefined
      const kinds = all.filter(([name]) => (faults?.of.includes(name) ?? true) && chain.suffers(name))
      const drawn = drawFault(ask, answering, { kinds, once })
      if (drawn !== undefined) befell.add(drawn.name)
      return drawn?.fault
    }
  }
  const answerFalsely = () => {
    for (const [at, node] of nodes.entries()) node.fault = faultsOf(chains[at]!, replicas[at]!)
  }
  const answerTruly = () => {
    for (const node of nodes) node.fault = () => undefined
  }
  answerFalsely()
  let refusedAgain = 0

  /** As `quorate send` does it, with an order or with a file of them, again until it is done. */
  const begin = async ({ store, temporal, begun, runs }: Machine, orders: readonly SendOrder[]): Promise<void> => {
    const not: string[] = []
    for (;;) {
      try {
        const asking = { ledger: store.sends, not, now: Date.now, pause: (ms: number) => stage.pause(ms) }
        const asked = await assertNotElsewhere(client, orders, asking)
        const sendIds = asked.map((order) => sendIdOf(order))
        const started = {
          taskQueue: QUEUE,
          workflowIdConflictPolicy: 'USE_EXISTING',
        } as const
        let workflowId: string
        if (asked.length === 1) {
          const { sendId } = await store.sends.enter(asked[0]!)
          workflowId = sendWorkflowId(organizationId, sendId)
          const args: Parameters<typeof send> = [{ organizationId, sendId }]
          await temporal.client.workflow.start<typeof send>('send', { ...started, workflowId, args })
        } else {
          const batch = batchOf(asked)
          await store.batches.put(batch)
          const { batchId } = batch
          workflowId = sendBatchWorkflowId(organizationId, batchId)
          const args: Parameters<typeof sendBatch> = [{ organizationId, batchId }]
          await temporal.client.workflow.start<typeof sendBatch>('sendBatch', { ...started, workflowId, args })
        }
        for (const [index, sendId] of sendIds.entries()) begun.set(sendId, orders[index]!)
        runs.push({ workflowId, sendIds })
        return
      } catch (error) {
        const taken = takenByChance(error)
        if (taken !== undefined) {
          not.push(taken)
          figures.chances++
          continue
        }
        if (/^(cli|apply)\//.test((error as { code?: string }).code ?? '')) throw error
        await stage.pause(200)
      }
    }
  }

  const figures = { kills: 0, restores: 0, both: 0, chances: 0 }
  const kills = [
    () => kill(machines[0].worker!),
    () => kill(machines[1].worker!),
    async () => {
      await service.end('SIGKILL')
      await stage.pause(draw(1_500))
      service = await startProcess(dataDir, { ...serving, port })
    },
    async () => {
      const restart = async () => {
        process.kill(server.pid, 'SIGKILL')
        await server.stop()
        server = await startTemporalServer({ binary, folder: temporalFolder, port: temporalPort, announce: () => {} })
      }
      isUp = restart()
      await isUp
    },
  ]
  const snapshotAt = () => join(folder, `${figures.restores}.snapshot`)
  const restore = async () => {
    await service.end('SIGKILL')
    const snapshot = snapshotAt()
    dataDir = join(folder, `service-${++figures.restores}`)
    await restoreSnapshot(dataDir, snapshot)
    service = await startProcess(dataDir, { ...serving, port })
  }
  /** As an operator does whose service says that it holds still, with nodes that answer: what it cannot read it leaves. */
  const reconcile = async () => {
    answerTruly()
    const said = { others: [], pay: 'all' } as const
    await askAboutLanes(dataDir, { kind: 'list-lanes', ...said })
      .then(({ lanes }) =>
        askAboutLanes(dataDir, { kind: 'reconcile-lanes', ...said, shown: lanes.flatMap(shownKeys) }),
      )
      .catch(() => {})
    if (!isTrueNow) answerFalsely()
  }

  const blocks = drawing(seed + 2)
  let [isCalm, isTrueNow] = [false, false]
  const perhapsTakeBack = () => Promise.all(chains.map((chain) => chain.perhapsTakeBack(blocks)))
  const ended = new Map<string, Surveyed>()
  const orders: SendOrder[] = []
  const nudging = startNudging()
  const atOnce = Math.min(MOST_AT_ONCE, Math.ceil(count / 10))
  // Each time it is put back it lacks some that are paid since, also of those from after the time before.
  const restores = [
    { saveAt: count / 4, restoreAt: (3 * count) / 8 },
    { saveAt: count / 2, restoreAt: (5 * count) / 8 },
  ]
  let isSaved = false
  while (orders.length < count) {
    await beginSome(Math.min(atOnce, count - orders.length))
    stage.standing = `${orders.length} begun`
    await perhapsTakeBack()
    await untilOver(Math.max(1, orders.length - 2 * atOnce))
    // The snapshot has some that are paid, and lacks some that are.
    const { saveAt, restoreAt } = restores[figures.restores] ?? { saveAt: count, restoreAt: count }
    if (!isSaved && orders.length >= saveAt && orders.length < count) {
      // What a snapshot has unsigned, and is replaced since, an operator is to give up; here all that is held is to be paid.
      for (const chain of chains) chain.spare(true)
      await saveSnapshot(dataDir, snapshotAt())
      isSaved = true
    } else if (isSaved && orders.length >= restoreAt) {
      await restore()
      for (const chain of chains) chain.spare(false)
      isSaved = false
    } else await kills[figures.kills++ % kills.length]!()
  }
  isCalm = true
  for (const chain of chains) chain.calm()
  await untilOver(Math.ceil(count * 0.8))
  isTrueNow = true
  answerTruly()
  await untilOver(count)
  await askForReplacedAgain()
  await Promise.all(chains.map((chain) => chain.settle()))
  nudging.stop()
  await Promise.all(chains.map((chain) => chain.stop()))
  const blocksTakenBack = chains.map((chain) => chain.figures().reorganised)
  return {
    ...{ payments: count, kinds: befell.size, reorganised: Math.min(...blocksTakenBack) },
    ...{ datedAnew: chains[1].figures().datedAnew, ...figures, ...(await judge()) },
  }

  /** Some on one machine, some on the other, and some on both at once: most in a batch of the machine's, and a few alone. */
  async function beginSome(some: number): Promise<void> {
    const batches = new Map<Machine, SendOrder[]>(machines.map((machine) => [machine, []]))
    const begins: Promise<void>[] = []
    for (let begun = 0; begun < some; begun++) {
      const order = orderOf(orders.length)
      orders.push(order)
      const isBoth = draw(100) < BOTH
      if (isBoth) figures.both++
      for (const machine of isBoth ? machines : [machines[draw(2)]!]) {
        if (draw(100) < ALONE) begins.push(begin(machine, [order]))
        else batches.get(machine)!.push(order)
      }
    }
    for (const [machine, rows] of batches) if (rows.length > 0) begins.push(begin(machine, rows))
    await Promise.all(begins)
  }

  /**
   * The activity of another reference that has the same times as one of those that are begun. A reference is here that of one
   * payment, so that what another payment stands under is another reference.
   */
  function takenByChance(error: unknown): string | undefined {
    const { code, facts } = error as { readonly code?: string; readonly facts?: Record<string, string> }
    if (code !== 'cli/reference-taken' || facts?.['activity'] === undefined) return undefined
    const asked = (parameters: unknown) => {
      const { data, value, unsignedTransaction } = parameters as Partial<
        Record<'data' | 'value' | 'unsignedTransaction', string>
      >
      // A call names its payee in its data.
      return data ?? value ?? unsignedTransaction
    }
    const sent = asked(JSON.parse(facts['that send']!))
    const own = /reference `([^`]+)`/.exec(String(error))?.[1]
    const payer = orders.find(({ parameters }) => asked(parameters) === sent)
    return payer === undefined || payer.reference === own ? undefined : facts['activity']
  }

  function orderOf(index: number): SendOrder {
    const from = pick(senders[index % 2]!, draw)
    return {
      reference: `S-${seed}-${index}`,
      organization: { name: 'acme', id: organizationId, baseUrl: service.url },
      ...chainOf(index).payment({ from, index }),
      from: 'treasury',
      to: `payee ${index}`,
      amount: `${chainOf(index).amountOf(index)}`,
      orderedAt: new Date().toISOString(),
    }
  }

  /** The progress of each begun send, machine by machine; what has come to its end is read once. */
  async function survey(over = ended): Promise<readonly Surveyed[]> {
    const all = machines.flatMap(({ name, store, begun }) =>
      [...begun].map(async ([sendId, order]): Promise<Surveyed> => {
        const known = over.get(`${name}/${sendId}`)
        if (known !== undefined) return known
        const progress = await store.sends.getProgress(sendId)
        const found = { order, ...(progress && { progress }) }
        if (isOver(found)) over.set(`${name}/${sendId}`, found)
        return found
      }),
    )
    return Promise.all(all)
  }

  /** Tells what is open to look at once, now and then: pauses between two tries of a step are no part of the run. */
  function startNudging() {
    let isStopped = false
    const running = (async () => {
      while (!isStopped) {
        await stage.pause(NUDGED_EACH_MS)
        for (const { name, temporal, runs } of machines) {
          for (const { workflowId, sendIds } of runs) {
            if (isStopped || sendIds.every((sendId) => ended.has(`${name}/${sendId}`))) continue
            const handle = temporal.client.workflow.getHandle<typeof send>(workflowId)
            await handle.signal('nudge').catch(() => {})
          }
        }
      }
    })()
    running.catch(() => {})
    return {
      stop() {
        isStopped = true
      },
    }
  }

  async function untilOver(least: number): Promise<void> {
    for (let looks = 0; ; looks++) {
      const all = await survey()
      stage.standing = standing(all)
      const over = new Set(all.filter(isOver).map(({ order }) => order))
      const open = all.filter((each) => !isOver(each))
      if (least < count ? over.size >= least : open.length === 0) return
      if (figures.restores > 0 && looks % 4 === 3) await reconcile()
      if (!isCalm) await perhapsTakeBack()
      await stage.pause(1_000)
    }
  }

  /** What was replaced is over: its reference, asked for again, has the same end. */
  async function askForReplacedAgain(): Promise<void> {
    for (const machine of machines) {
      const before = machine.runs.length
      const all = [...machine.begun].map(async ([sendId, order]) => {
        const progress = await machine.store.sends.getProgress(sendId)
        return failedHow(progress) === 'replaced' ? [order] : []
      })
      for (const order of (await Promise.all(all)).flat()) {
        try {
          await begin(machine, [order])
        } catch (error) {
          // Its own payment, taken for another's.
          if (!(error instanceof QuorateError) || error.code !== 'cli/sent-elsewhere') throw error
          refusedAgain++
        }
      }
      for (const { workflowId } of machine.runs.slice(before))
        await machine.temporal.client.workflow.getHandle(workflowId).result()
    }
  }

  async function judge() {
    const blocks = await Promise.all(chains.map((chain) => chain.readBlocks()))
    const found = { unpaid: 0, twice: 0, wrong: 0, mistold: refusedAgain, dear: 0, replaced: 0 }
    let [asked, had] = [0n, 0n]
    // Read anew: an end never changes.
    const told = Map.groupBy(await survey(new Map()), ({ order }) => order.reference)
    for (const [index, { reference }] of orders.entries()) {
      const chain = chainOf(index)
      const to = chain.payeeOf(index)
      const amount = chain.amountOf(index)
      const payments = blocks[index % 2]!.paid.get(to) ?? []
      // The nonce may have been given back before, and the payment made with another.
      const replacedBy = payments.length > 0 ? undefined : blocks[index % 2]!.replacedBy.get(index)
      const isToRevert = chain.kindOf(index) === 'reverted'
      if (replacedBy === undefined) asked += amount
      else found.replaced++
      had += await chain.balanceOf(index)
      if (payments.length === 0 && replacedBy === undefined) found.unpaid++
      if (payments.length > 1) found.twice++
      if (payments.some((each) => each.amount !== amount || (each.isReverted ?? false) !== isToRevert)) found.wrong++
      if (payments.some(({ isDear }) => isDear)) found.dear++
      for (const { progress } of told.get(reference) ?? []) {
        const isSo = isToRevert
          ? progress?.state === 'failed' && progress.error?.code === 'apply/transaction-reverted'
          : progress?.state === 'included'
        const isTrue =
          replacedBy === undefined
            ? isSo && progress?.transactionHash === payments[0]?.hash
            : failedHow(progress) === 'replaced' && progress?.error?.message.includes(replacedBy)
        if (!isTrue) {
          found.mistold++
          console.error(reference, JSON.stringify(progress), payments, replacedBy)
        }
      }
    }
    return { ...found, sums: asked === had ? ('equal' as const) : ('differ' as const) }
  }
}

/** A begun send on one of the machines. */
interface Surveyed {
  readonly order: SendOrder
  readonly progress?: SendProgress
}

const isOver = ({ progress }: Surveyed) => progress !== undefined && isSendOver(progress.state)

function standing(all: readonly Surveyed[]): string {
  const counts = new Map<string, number>()
  for (const { progress } of all) {
    const { state = 'not begun', error } = progress ?? {}
    const shown = error === undefined ? state : `${state} (${error.message.slice(0, 80)})`
    counts.set(shown, (counts.get(shown) ?? 0) + 1)
  }
  return [...counts].map(([state, of]) => `${of} ${state}`).join(', ')
}

async function makeSenders(
  url: string,
  { client, dataDir, chain }: { readonly client: SubmitClient; readonly dataDir: string; readonly chain: PaidChain },
): Promise<readonly string[]> {
  const speaker = readClient(dataDir)
  const senders: string[] = []
  for (let index = 0; index < SENDERS; index++) {
    const parameters = { walletName: `${chain.caip2} ${index}`, accounts: accountsOf(chain.account) }
    const made = await speaker.send(url, speaker.body('ACTIVITY_TYPE_CREATE_WALLET', parameters))
    const { walletId } = made!.result.createWalletResult!
    const { accounts } = await client.query('list_wallet_accounts', { walletId })
    const { address } = accounts[0] as { address: string }
    await chain.fund(address)
    senders.push(address)
  }
  return senders
}
