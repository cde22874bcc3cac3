/**
 * Payments by two machines while everything fails by a seeded schedule: the node answers late, never, of the past, of another
 * transaction or with a refusal after the deed, and its blocks are taken back; each machine's worker, the service and Temporal
 * are killed; the service is restored from a snapshot. Judged by all blocks of the chain, read from the node itself by nothing
 * of the service's: each reference is paid once, told as it is, and for no more than its ceiling.
 */
import { type ChildProcess, execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  createPlanStore,
  isSendOver,
  type PlanStore,
  type SendOrder,
  type SendProgress,
} from '../../activities/index.ts'
import { createSubmitClient, type SubmitClient } from '../../src/client/index.ts'
import { assertNotElsewhere } from '../../src/sending/index.ts'
import { restoreSnapshot, saveSnapshot } from '../../src/service/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { connectTemporal, findTemporal, startTemporalServer } from '../../src/worker/index.ts'
import type { send } from '../../workflows/index.ts'
import { FAULTS, startFaultNode } from '../faults/fault-node.ts'
import { commandFile } from '../programs.ts'
import { readClient, startProcess } from '../service/process.ts'
import { accountsOf } from '../service/signing/keys.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
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
const SENDERS = 3
const NUDGED_EACH_MS = 2_500

export interface Scheduled {
  readonly payments: number
  readonly kinds: number
  readonly reorganised: number
  readonly kills: number
  readonly restores: number
  /** References that were begun on both machines. */
  readonly both: number
  /** References that no block has, that more than one transaction has, and whose amount is another. */
  readonly unpaid: number
  readonly twice: number
  readonly wrong: number
  /** Ends that are not the chain's, in the ledger of either machine. */
  readonly mistold: number
  /** Transactions that cost more than their ceiling. */
  readonly dear: number
  /** What all receivers have is what all references say. */
  readonly sums: 'equal' | 'differ'
}

export interface ScheduleOptions {
  readonly chain: 'ethereum' | 'solana'
  readonly count: number
  readonly seed: number
  readonly mostMs?: number
  readonly signal?: AbortSignal
}

export async function payBySchedule({ mostMs = 7_200_000, signal, ...options }: ScheduleOptions): Promise<Scheduled> {
  const stage = openStage({ mostMs, ...(signal && { signal }) })
  return stage.run(() => pay(options, stage))
}

interface Machine {
  readonly name: string
  readonly queue: string
  readonly store: PlanStore
  worker?: ChildProcess
  readonly begun: Map<string, SendOrder>
}

async function pay({ chain: kind, count, seed }: ScheduleOptions, stage: Stage): Promise<Scheduled> {
  const draw = drawing(seed)
  const folder = mkdtempSync(join(tmpdir(), 'quorate-schedule-'))
  stage.atEnd(async () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const chain = await startPaidChain(kind, stage)
  const node = await startFaultNode(chain.url)
  stage.atEnd(() => node.close())

  const serving = { chains: { [chain.caip2]: { ...chain.settings, url: node.url } }, operator: true }
  let dataDir = join(folder, 'service')
  mkdirSync(dataDir, { mode: 0o700 })
  let service = await startProcess(dataDir, serving)
  stage.atEnd(() => service.end('SIGKILL'))
  const port = Number(new URL(service.url).port)
  const { organizationId } = readClient(dataDir)
  const { apiPrivateKey } = JSON.parse(readFileSync(join(dataDir, 'bootstrap.json'), 'utf8')) as Record<string, string>
  const stamper = createApiKeyStamper({ privateKey: new Secret(apiPrivateKey!) })
  const client = createSubmitClient({ baseUrl: service.url, organizationId, stamper })
  const senders = await makeSenders(service.url, { client, dataDir, chain })

  const temporalFolder = join(folder, 'temporal')
  const binary = await findTemporal({ announce: () => {} })
  let server = await startTemporalServer({ binary, folder: temporalFolder, announce: () => {} })
  stage.atEnd(() => server.stop())
  const temporalPort = Number(server.address.split(':')[1])
  const temporal = await connectTemporal({ address: server.address, tls: server.tls }, testSeal)
  stage.atEnd(() => temporal.close())

  const bundleFile = join(folder, 'bundle.js')
  writeFileSync(bundleFile, (await testBundle()).code)
  const startWorker = (machine: Machine) => {
    const settings: WorkerProcessSettings = {
      temporal: { address: server.address, tls: server.tls },
      taskQueue: machine.queue,
      baseUrl: service.url,
      organizationId,
      privateKey: apiPrivateKey!,
      storeFolder: join(folder, machine.name),
      bundleFile,
      naive: false,
      maxCachedWorkflows: 500,
    }
    const worker = startWorkerProcess(settings)
    machine.worker = worker
    stage.atEnd(() => kill(worker))
    // One that cannot reach Temporal ends, as a service manager sees.
    worker.once('exit', () => setTimeout(() => stage.signal.aborted || startWorker(machine), 300))
  }
  const machines = ['one', 'two'].map((name): Machine => {
    mkdirSync(join(folder, name), { mode: 0o700 })
    const store = createPlanStore(join(folder, name, 'plans'))
    const machine: Machine = { name, queue: `schedule-${name}`, store, begun: new Map() }
    startWorker(machine)
    return machine
  }) as [Machine, Machine]

  const kinds = new Set<string>()
  const answering = drawing(seed + 1)
  node.fault = ({ method }) => {
    if (answering(100) >= FAULTY) return undefined
    const those = Object.entries(FAULTS).filter(([name, { of }]) => of.test(method) && chain.suffers(name))
    const [name, { make }] = pick(those, answering)
    kinds.add(name)
    return make(answering(1_000))
  }

  /** As `quorate send` does it, again until it is done. */
  const begin = async (machine: Machine, order: SendOrder): Promise<void> => {
    for (;;) {
      try {
        const asking = { ledger: machine.store.sends, not: [], now: Date.now, pause: async () => {} }
        const [asked] = await assertNotElsewhere(client, [order], asking)
        const { sendId } = await machine.store.sends.enter(asked!)
        // Each machine has a Temporal of its own in life: here the ids of its workflows are its own.
        await temporal.client.workflow.start<typeof send>('send', {
          workflowId: `${machine.name}/send/${organizationId}/${sendId}`,
          taskQueue: machine.queue,
          args: [{ organizationId, sendId }],
          workflowIdConflictPolicy: 'USE_EXISTING',
        })
        machine.begun.set(sendId, order)
        return
      } catch (error) {
        if (/^(cli|apply)\//.test((error as { code?: string }).code ?? '')) throw error
        await stage.pause(200)
      }
    }
  }

  const figures = { kills: 0, restores: 0, both: 0 }
  const kills = [
    () => kill(machines[0].worker!),
    () => kill(machines[1].worker!),
    async () => {
      await service.end('SIGKILL')
      await stage.pause(draw(1_500))
      service = await startProcess(dataDir, { ...serving, port })
    },
    async () => {
      process.kill(server.pid, 'SIGKILL')
      await server.stop()
      server = await startTemporalServer({ binary, folder: temporalFolder, port: temporalPort, announce: () => {} })
    },
  ]
  const snapshot = join(folder, 'service.snapshot')
  const restore = async () => {
    await service.end('SIGKILL')
    dataDir = join(folder, `service-${++figures.restores}`)
    await restoreSnapshot(dataDir, snapshot)
    service = await startProcess(dataDir, { ...serving, port })
  }
  /** As an operator does whose service says that it holds still, with a node that answers: what it cannot read it leaves. */
  const reconcile = async () => {
    const faults = node.fault
    node.fault = () => undefined
    const args = [commandFile(), 'sends', 'reconcile', '--yes', '--json', '--folder', dataDir]
    await promisify(execFile)(process.execPath, args).catch(() => {})
    node.fault = faults
  }

  const orders: SendOrder[] = []
  const nudging = startNudging(machines, (id) => temporal.client.workflow.getHandle<typeof send>(id).signal('nudge'), {
    organizationId,
    stage,
  })
  const [saveAt, restoreAt] = [Math.floor(count / 3), Math.floor(count / 2)]
  for (let index = 0; index < count; index++) {
    const order = orderOf(index)
    orders.push(order)
    const isBoth = draw(100) < BOTH
    if (isBoth) figures.both++
    const chosen = isBoth ? machines : [machines[draw(2)]!]
    await Promise.all(chosen.map((machine) => begin(machine, order)))
    await chain.perhapsTakeBack(draw)
    stage.standing = `${index + 1} begun`
    if (chain.canBeRestored && index === saveAt) await saveSnapshot(dataDir, snapshot)
    if (figures.restores > 0 && index % 8 === 7) await reconcile()
    if (chain.canBeRestored && index === restoreAt) await restore()
    else if (index > 0 && index % Math.ceil(count / 9) === 0) await kills[figures.kills++ % kills.length]!()
  }
  await untilOver(Math.ceil(count * 0.8))
  node.fault = () => undefined
  await untilOver(count)
  await chain.settle()
  nudging.stop()
  await chain.stop()
  return { payments: count, kinds: kinds.size, reorganised: chain.takenBack(), ...figures, ...(await judge()) }

  function orderOf(index: number): SendOrder {
    const from = senders[index % SENDERS]!
    return {
      reference: `S-${seed}-${index}`,
      organization: { name: 'acme', id: organizationId, baseUrl: service.url },
      ...chain.payment({ from, index }),
      from: 'treasury',
      to: `payee ${index}`,
      amount: `${chain.amountOf(index)}`,
      orderedAt: new Date().toISOString(),
    }
  }

  /** The progress of each begun send, machine by machine. */
  async function survey(): Promise<readonly { readonly order: SendOrder; readonly progress?: SendProgress }[]> {
    const all = machines.flatMap(({ store, begun }) =>
      [...begun].map(async ([sendId, order]) => {
        const progress = await store.sends.getProgress(sendId)
        return { order, ...(progress && { progress }) }
      }),
    )
    return Promise.all(all)
  }

  async function untilOver(least: number): Promise<void> {
    for (let looks = 0; ; looks++) {
      const all = await survey()
      stage.standing = standing(all)
      const over = new Set(
        all.filter(({ progress }) => progress && isSendOver(progress.state)).map(({ order }) => order),
      )
      const open = all.filter(({ progress }) => progress === undefined || !isSendOver(progress.state))
      if (least < count ? over.size >= least : open.length === 0) return
      if (figures.restores > 0 && looks % 6 === 5) await reconcile()
      await stage.pause(500)
    }
  }

  async function judge() {
    const paid = await chain.readBlocks()
    const found = { unpaid: 0, twice: 0, wrong: 0, mistold: 0, dear: 0 }
    let [asked, had] = [0n, 0n]
    for (const [index, { reference }] of orders.entries()) {
      const to = chain.payeeOf(index)
      const amount = chain.amountOf(index)
      const payments = paid.get(to) ?? []
      asked += amount
      had += await chain.balanceOf(to)
      if (payments.length === 0) found.unpaid++
      if (payments.length > 1) found.twice++
      if (payments.some((each) => each.amount !== amount)) found.wrong++
      if (payments.some(({ isDear }) => isDear)) found.dear++
      for (const { order, progress } of await survey()) {
        if (order.reference !== reference) continue
        const isTrue = progress?.state === 'included' && progress.transactionHash === payments[0]?.hash
        if (!isTrue) {
          found.mistold++
          console.error(reference, JSON.stringify(progress), payments)
        }
      }
    }
    return { ...found, sums: asked === had ? ('equal' as const) : ('differ' as const) }
  }
}

function standing(all: readonly { readonly progress?: SendProgress }[]): string {
  const counts = new Map<string, number>()
  for (const { progress } of all) {
    const { state = 'not begun', error } = progress ?? {}
    const shown = error === undefined ? state : `${state} (${error.message.slice(0, 80)})`
    counts.set(shown, (counts.get(shown) ?? 0) + 1)
  }
  return [...counts].map(([state, of]) => `${of} ${state}`).join(', ')
}

/** Tells what has not ended to look at once, so that the pauses between two looks are no part of the run. */
function startNudging(
  machines: readonly Machine[],
  signal: (workflowId: string) => Promise<void>,
  { organizationId, stage }: { readonly organizationId: string; readonly stage: Stage },
) {
  let isOver = false
  const running = (async () => {
    while (!isOver && !stage.signal.aborted) {
      for (const { name, store, begun } of machines) {
        for (const sendId of begun.keys()) {
          const progress = await store.sends.getProgress(sendId)
          if (isOver || (progress && isSendOver(progress.state))) continue
          await signal(`${name}/send/${organizationId}/${sendId}`).catch(() => {})
        }
      }
      await stage.pause(NUDGED_EACH_MS)
    }
  })()
  running.catch(() => {})
  return {
    stop() {
      isOver = true
    },
  }
}

async function makeSenders(
  url: string,
  { client, dataDir, chain }: { readonly client: SubmitClient; readonly dataDir: string; readonly chain: PaidChain },
): Promise<readonly string[]> {
  const speaker = readClient(dataDir)
  const senders: string[] = []
  for (let index = 0; index < SENDERS; index++) {
    const parameters = { walletName: `w${index}`, accounts: accountsOf(chain.account) }
    const made = await speaker.send(url, speaker.body('ACTIVITY_TYPE_CREATE_WALLET', parameters))
    const { walletId } = made!.result.createWalletResult!
    const { accounts } = await client.query('list_wallet_accounts', { walletId })
    const { address } = accounts[0] as { address: string }
    await chain.fund(address)
    senders.push(address)
  }
  return senders
}
