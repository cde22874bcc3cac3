/** Sends with nothing between them that is a double: a real node, the real service, Temporal, and a worker. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import {
  type Activities,
  createActivities,
  createPlanStore,
  type PlanStore,
  type SendBatch,
  type SendBatchProgress,
  type SendOrder,
  sendIdOf,
} from '../../activities/index.ts'
import { createSubmitClient, type SubmitClient } from '../../src/client/index.ts'
import { type ApplyPlace, rotationKeysOf } from '../../src/operations/index.ts'
import { activities } from '../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret, silentLogger } from '../../src/telemetry/index.ts'
import {
  connectTemporal,
  createWorker,
  type TemporalConnections,
  type TemporalSettings,
} from '../../src/worker/index.ts'
import type { sendBatch } from '../../workflows/index.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { type Anvil, startAnvil } from '../service/sends/anvil.ts'
import { SEPOLIA } from '../service/sends/status.ts'
import { ETHEREUM, makeWallet } from '../service/signing/keys.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { askUntil } from './asking.ts'
import { createReplayer } from './recorded.ts'

export const RECEIVER = '0x00000000000000000000000000000000000000b0'
/** Reverts, whatever it is called with. */
export const REVERTS = '0x00000000000000000000000000000000000000fd'

const SENDS = activities.ACTIVITY_TYPE_ETH_SEND_TRANSACTION.path

export type BatchHandle = WorkflowHandle<typeof sendBatch>

export interface SendStage {
  readonly service: TestService
  readonly anvil: Anvil
  readonly store: PlanStore
  /** What the doors begin a send, a batch or a rotation with. */
  readonly place: ApplyPlace
  /** Fails if the history of a workflow does not replay; keeps it under a name when histories are recorded. */
  replayOf(handle: Pick<WorkflowHandle, 'fetchHistory' | 'workflowId'>, record?: string): Promise<void>
  readonly temporal: TemporalConnections
  /** Addresses with 100 ether each. */
  readonly senders: readonly string[]
  orderOf(reference: string, parameters?: object): SendOrder
  /** Puts orders into a batch and begins it. `run` makes it another workflow than the one before. */
  begin(
    orders: readonly SendOrder[],
    more?: { readonly stopOnFailure?: boolean; readonly run?: string },
  ): Promise<Begun>
  countSends(): Promise<number>
  /**
   * How many more sends may go out; those beyond wait, as for the turn of a rate, until more are allowed.
   * @default count any number
   * @default passes none: bodies that go out anyway
   */
  allow(count?: number, passes?: (body: string) => boolean): void
  close(): Promise<void>
}

export interface Begun {
  readonly batch: SendBatch
  readonly handle: BatchHandle
  /** Awaits the end; the histories must replay. `record` keeps them under that name when histories are recorded. */
  ended(record?: string): Promise<SendBatchProgress>
  until(wanted: (progress: SendBatchProgress) => boolean): Promise<SendBatchProgress>
  /** Stops the batch as the command does: in the ledger, and then the workflow is told. */
  stop(): Promise<void>
  /** Tells it to go on, likewise. */
  resume(): Promise<void>
  /** The state of each row. */
  states(): Promise<readonly string[]>
}

interface SendStageOptions {
  /** @default 1 */
  readonly senders?: number
  /** Steps in the place of the worker's own. */
  readonly activities?: (usual: Activities) => Partial<Activities>
}

export async function openSendStage(
  server: TemporalSettings,
  { senders: count = 1, activities: replaced = () => ({}) }: SendStageOptions = {},
): Promise<SendStage> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-sends-'))
  const store = createPlanStore(join(folder, 'plans'))
  const anvil = await startAnvil()
  await anvil.rpc('anvil_setCode', REVERTS, '0x60006000fd')
  const service = await startTestService({ chains: { [SEPOLIA]: { url: anvil.url, pollMs: 50 } } })
  const { organizationId } = service
  const senders: string[] = []
  for (let sender = 0; sender < count; sender++) {
    senders.push((await makeWallet(service.root, ETHEREUM)).accounts[0]!.address)
    await anvil.fund(senders[sender]!, 100)
  }
  const temporal = await connectTemporal(server, testSeal)
  const stamper = createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) })
  let left = Number.POSITIVE_INFINITY
  let passesAnyway: (body: string) => boolean = () => false
  let allowed = Promise.withResolvers<void>()
  const own = createSubmitClient({ baseUrl: service.url, organizationId, stamper })
  const client: SubmitClient = {
    ...own,
    async submit(path, body, options) {
      while (path === SENDS && left <= 0 && !passesAnyway(body)) await allowed.promise
      if (path === SENDS) left--
      return own.submit(path, body, options)
    },
  }
  const workflowBundle = await testBundle()
  const usual = createActivities({
    clientFor: () => client,
    planStore: store,
    clock: Date.now,
    logger: silentLogger,
    rotation: {
      keysFolder: rotationKeysOf(folder),
      clientWith: (_, privateKey) =>
        createSubmitClient({ baseUrl: service.url, organizationId, stamper: createApiKeyStamper({ privateKey }) }),
      useKey: () => {},
    },
  })
  const worker = await createWorker({
    connection: await temporal.openForWorker(),
    namespace: temporal.namespace,
    seal: testSeal,
    taskQueue: organizationId,
    activities: { ...usual, ...replaced(usual) },
    workflowBundle,
    // Without a cache every workflow task is a replay: what is not deterministic shows at once.
    maxCachedWorkflows: 0,
  })
  const running = worker.run()

  const replayer = createReplayer(workflowBundle)

  return {
    service,
    anvil,
    store,
    place: { client: temporal.client, organizationId, taskQueue: organizationId, dataDir: folder },
    replayOf: (handle, record) => replayer.replayOf(handle, record),
    temporal,
    senders,
    orderOf: (reference, parameters = {}) => ({
      reference,
      organization: { name: 'acme', id: organizationId, baseUrl: service.url },
      type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
      parameters: { from: senders[0]!, caip2: SEPOLIA, to: RECEIVER, value: '1', ...parameters },
      from: 'treasury',
      to: 'payroll',
      amount: '1 wei',
      orderedAt: new Date().toISOString(),
    }),
    async begin(orders, { stopOnFailure = false, run = '' } = {}) {
      const batch = batchOf(orders)
      await store.batches.put(batch)
      const { batchId } = batch
      const handle = await temporal.client.workflow.start<typeof sendBatch>('sendBatch', {
        workflowId: `send-batch/${organizationId}/${batchId}${run}`,
        taskQueue: organizationId,
        args: [{ organizationId, batchId, stopOnFailure }],
      })
      return {
        batch,
        handle,
        async ended(record) {
          const progress = await handle.result()
          await replayer.replayOf(handle, record)
          for (const [index, { order }] of batch.rows.slice(0, 2).entries()) {
            const child = temporal.client.workflow.getHandle(`send/${organizationId}/${sendIdOf(order)}`)
            const name = record === undefined || index > 0 ? undefined : `${record}-row`
            await child
              .result()
              .then(() => replayer.replayOf(child, name))
              .catch((error: Error) => {
                if (error.name !== 'WorkflowNotFoundError') throw error
              })
          }
          return progress
        },
        until: (wanted) => askUntil(() => handle.query<SendBatchProgress>('progress'), wanted),
        async stop() {
          await store.batches.stop(batch, new Date())
          await handle.signal('stop')
        },
        async resume() {
          await store.batches.resume(batchId)
          await handle.signal('resume')
        },
        states: async () => (await store.batches.survey(batch)).map(({ state }) => state),
      }
    },
    allow(count = Number.POSITIVE_INFINITY, passes = () => false) {
      left = count
      passesAnyway = passes
      allowed.resolve()
      allowed = Promise.withResolvers()
    },
    async countSends() {
      for (let count = 0, last: string | undefined; ; ) {
        const { activities: listed } = await service.root.query('list_activities', {
          filterByType: ['ACTIVITY_TYPE_ETH_SEND_TRANSACTION'],
          paginationOptions: { limit: '100', ...(last === undefined ? {} : { before: last }) },
        })
        count += listed.length
        last = listed.at(-1)?.id
        if (listed.length < 100) return count
      }
    },
    async close() {
      worker.shutdown()
      await running
      await replayer.close()
      await temporal.close()
      await service.close()
      await anvil.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A batch of orders, each in a line of its own below the header. */
export function batchOf(orders: readonly SendOrder[]): SendBatch {
  return {
    batchId: createHash('sha256').update(JSON.stringify(orders)).digest('hex'),
    organization: orders[0]!.organization,
    file: 'payments.csv',
    orderedAt: new Date().toISOString(),
    rows: orders.map((order, index) => ({ line: index + 2, order })),
  }
}
