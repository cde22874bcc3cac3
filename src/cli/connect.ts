import { join } from 'node:path'
import {
  createQueryClient,
  createRate,
  createSubmitClient,
  type QueryClient,
  type Rate,
  type SubmitClient,
} from '../client/index.ts'
import { KEY_VARIABLE, type Settings, settingRows } from '../config/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { createApiKeyStamper, type KeyReference, loadPrivateKey } from '../stamp/index.ts'
import type { Secret } from '../telemetry/index.ts'
import type { BackgroundStart } from './background/model.ts'
import { ensureBackground } from './background/start.ts'
import type { CommandInput } from './command.ts'

/** Where a command works, as whom. */
export interface Place {
  readonly baseUrl: string
  readonly organizationId: string
  /** Whether the service is the embedded one of the data folder. */
  readonly embedded: boolean
  /** The time as the API has it, in milliseconds since the epoch: an embedded service's may have been moved. */
  readonly now: () => number
  readonly key: { readonly privateKey: Secret; readonly publicKey: string }
  /** What every client of this command passes through, whoever signs. The worker of an embedded apply has its own. */
  readonly rate: Rate
}

/** Finds out where a command works: as the settings say, or in the embedded service, which is brought up for it. */
export async function findPlace({ settings, io }: Pick<CommandInput, 'settings' | 'io'>): Promise<Place> {
  if (settings.baseUrl !== undefined) return configuredPlace(settings, settings.baseUrl)
  const status = await ensureBackground({ dataDir: settings.dataDir }, { announce: (text) => io.say(`${text}\n`) })
  if (!status.embeddedService) {
    throw new QuorateError('cli/background-other', 'the background process of this data folder works for another API', {
      facts: { pid: status.pid, baseUrl: status.baseUrl },
      next: `give --base-url ${status.baseUrl}, or stop it with \`quorate down\``,
    })
  }
  return {
    baseUrl: status.baseUrl,
    organizationId: settings.organizationId ?? status.organizationId,
    embedded: true,
    now: () => Date.now() + status.serviceAheadMs,
    key: await loadPrivateKey(settings.key ?? bootstrapKey(settings.dataDir)),
    rate: createRate(settings),
  }
}

/** What the background process must know to work as the settings say; the key goes to it over a pipe, once. */
export async function backgroundStart(settings: Settings, place?: Place): Promise<BackgroundStart> {
  const { dataDir, requestsPerSecond } = settings
  const common = { dataDir, ...(requestsPerSecond === undefined ? {} : { requestsPerSecond }) }
  if (settings.baseUrl === undefined) return common
  const { baseUrl, organizationId, key } = place ?? (await configuredPlace(settings, settings.baseUrl))
  return { ...common, baseUrl, organizationId, privateKey: key.privateKey.reveal() }
}

/** The embedded service's root key. */
export function bootstrapKey(dataDir: string): KeyReference {
  return { kind: 'file', path: join(dataDir, 'service', 'bootstrap.json') }
}

async function configuredPlace(settings: Settings, baseUrl: string): Promise<Place> {
  const { organizationId, keyFile } = settingRows
  if (settings.organizationId === undefined) {
    throw missing('organization', `set ${organizationId.environment} or give ${organizationId.flag}`, baseUrl)
  }
  if (settings.key === undefined) {
    throw missing('API key', `set ${keyFile.environment} or ${KEY_VARIABLE}, or give ${keyFile.flag}`, baseUrl)
  }
  return {
    baseUrl,
    organizationId: settings.organizationId,
    embedded: false,
    now: Date.now,
    key: await loadPrivateKey(settings.key),
    rate: createRate(settings),
  }
}

function missing(what: string, next: string, baseUrl: string): QuorateError {
  return new QuorateError('config/invalid', `an API is named, but no ${what}`, {
    facts: { baseUrl, submitted: 'nothing' },
    next,
  })
}

/** A client that reads and has no way to submit. */
export function reader(place: Place): QueryClient {
  return createQueryClient(clientOptions(place))
}

/** A client that may submit as well. */
export function submitter(place: Place): SubmitClient {
  return createSubmitClient(clientOptions(place))
}

function clientOptions({ baseUrl, organizationId, key, rate }: Place) {
  return { baseUrl, organizationId, stamper: createApiKeyStamper(key), rate }
}
