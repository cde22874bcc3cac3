import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { QuorateError } from '../diagnostics/index.ts'
import { choosePorts } from '../loopback/index.ts'
import {
  askOperator,
  createService,
  listWrittenMessages,
  type OperatorRequest,
  restoreSnapshot,
  type Service,
  type ServiceOptions,
  saveSnapshot,
} from '../service/index.ts'
import type { Methods, QuorateOptions, Snapshot, Started } from './model.ts'
import { listenForWebhooks, type WebhookListener } from './webhook-listener.ts'

/** Connections that nobody uses are not waited for. */
const DRAIN_MS = 1_000

/** What a snapshot holds besides its file. */
interface Kept {
  readonly file: string
  readonly deliveries: number
  readonly messages: ReadonlySet<string>
}

/** Creates what the process answers with: a service in a folder of its own, and what it sends. */
export function createHost(): Methods {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-testing-'))
  const dataDir = join(folder, 'service')
  const kept: Kept[] = []
  // Messages that came after the snapshot that was restored.
  let hidden: ReadonlySet<string> = new Set()
  let settings: QuorateOptions = {}
  // They stay when it is started anew.
  let ports: readonly number[] | undefined
  let service: Service | undefined
  let webhooks: WebhookListener | undefined
  let closing: Promise<void> | undefined

  const open = async (names: Pick<ServiceOptions, 'rootUserName' | 'keyName' | 'organizationName'>) => {
    const { clock, chains = {} } = settings
    ports ??= await choosePorts(2)
    service = await createService({
      ...names,
      dataDir,
      port: ports[0]!,
      proxy: { port: ports[1]! },
      operator: true,
      ...(clock ? { clock: () => clock.getTime() } : {}),
      chains: Object.fromEntries(
        Object.entries(chains).map(([id, chain]) => [
          id,
          // A chain is not taken back with a snapshot: it would be ahead of the records.
          { unknownNonces: 'follow' as const, ...(typeof chain === 'string' ? { url: chain } : chain) },
        ]),
      ),
      allowedWebhookHosts: ['127.0.0.1', 'localhost', '[::1]'],
      limits: { drainMs: DRAIN_MS },
    })
    return service
  }
  const operate = (request: OperatorRequest) => askOperator(dataDir, request)
  const listMessages = () => listWrittenMessages(dataDir, hidden)

  return {
    async start(options): Promise<Started> {
      settings = options
      const { definitions } = options
      const opened =
        definitions === undefined ? undefined : (await import('./apply-definitions.ts')).openDefinitions(definitions)
      const names = opened?.names ?? {}
      const rootUserName = names.rootUserName ?? 'root'
      webhooks = await listenForWebhooks()
      const { bootstrap } = await open(names)
      const { apiPrivateKey, ...addresses } = bootstrap
      const rootKey = { publicKey: bootstrap.apiPublicKey, privateKey: apiPrivateKey!.reveal() }
      const applied = await opened?.apply({
        ...options,
        ...{ dataDir: folder, bootstrap, rootUserName, rootKey },
        now: async () => (await operate({ kind: 'state' })).now,
      })
      const keys = applied?.keys ?? { [rootUserName]: rootKey }
      return { ...addresses, keys, rootUserName, ids: applied?.ids ?? {}, webhookUrl: webhooks.url }
    },
    now: async () => (await operate({ kind: 'state' })).now,
    advance: async (ms) => (await operate({ kind: 'move-clock', ms })).now,
    addFault: async (fault) => (await operate({ kind: 'add-fault', fault })).faults.at(-1)!,
    listFaults: async () => (await operate({ kind: 'state' })).faults,
    async clearFaults(id) {
      await operate(id === undefined ? { kind: 'clear-faults' } : { kind: 'clear-faults', id })
    },
    messages: async () => listMessages(),
    deliveries: async () => webhooks?.deliveries() ?? [],
    async snapshot(): Promise<Snapshot> {
      const file = join(folder, `${kept.length}.snapshot`)
      const messages = new Set(listMessages().map(({ id }) => id))
      const deliveries = webhooks!.deliveries().length
      await saveSnapshot(dataDir, file)
      return { id: kept.push({ file, deliveries, messages }) - 1 }
    },
    async restore(snapshot) {
      const one = kept[snapshot.id]
      if (!one) {
        throw new QuorateError('testing/no-snapshot', 'this service has not taken that snapshot', {
          next: 'restore what `snapshot()` of the same service gave; nothing was changed',
        })
      }
      await service?.close()
      await restoreSnapshot(dataDir, one.file)
      webhooks!.keep(one.deliveries)
      const all = listWrittenMessages(dataDir).map(({ id }) => id)
      hidden = new Set(all.filter((id) => !one.messages.has(id)))
      await open({})
    },
    close: () =>
      (closing ??= (async () => {
        await Promise.allSettled([service?.close(), webhooks?.close()])
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
      })()),
  }
}
