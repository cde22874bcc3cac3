import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  createFolderTurns,
  createQueryClient,
  createRate,
  createSubmitClient,
  type QueryClient,
  type Rate,
  type SubmitClient,
} from '../client/index.ts'
import { KEY_VARIABLE, type Settings, settingRows } from '../config/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import {
  createApiKeyStamper,
  type KeyReference,
  type LoadedKey,
  loadKeyText,
  loadPrivateKey,
  type SignatureScheme,
} from '../stamp/index.ts'
import type { Secret } from '../telemetry/index.ts'
import type { BackgroundStart } from './background/model.ts'
import { ensureBackground } from './background/start.ts'
import type { CommandInput } from './command.ts'
import { line } from './screen.ts'

/** A key and how it stamps: by the plain scheme of its curve unless said. */
interface PlaceKey {
  readonly privateKey: Secret
  readonly publicKey: string
  /** @default 'p256' */
  readonly curve?: LoadedKey['curve']
  readonly scheme?: SignatureScheme | undefined
}

/** The service, organization and key that a command works with. */
export interface Place {
  readonly baseUrl: string
  readonly organizationId: string
  /** Whether the service is the embedded one of the data folder. */
  readonly embedded: boolean
  /** The time as the API has it, in milliseconds since the epoch: an embedded service's may have been moved. */
  readonly now: () => number
  readonly key: PlaceKey
  /** Folder with the keys of users of sub-organizations. */
  readonly subOrganizationKeys: string | undefined
  /**
   * The rate that all clients of this command share, whichever key signs. The worker of an embedded apply has its own,
   * and both share turns.
   */
  readonly rate: Rate
}

/** Finds out where a command works: as the settings say, or in the embedded service, which is brought up for it. */
export async function findPlace({ settings, io }: Pick<CommandInput, 'settings' | 'io'>): Promise<Place> {
  if (settings.baseUrl !== undefined) return configuredPlace(settings, settings.baseUrl)
  const status = await ensureBackground({ dataDir: settings.dataDir }, { announce: (text) => io.say(line`${text}\n`) })
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
    now: () => Date.now() + status.operator.aheadMs,
    key: await loadKey(settings.key ?? bootstrapKey(settings.dataDir), settings),
    subOrganizationKeys: settings.subOrganizationKeys,
    rate: rateOf(settings, settings.organizationId ?? status.organizationId),
  }
}

/** The settings of the background process; the key goes to it once, over a pipe. */
export async function backgroundStart(settings: Settings, place?: Place): Promise<BackgroundStart> {
  const { dataDir, requestsPerSecond, subOrganizationKeys } = settings
  const payloadKey = settings.payloadKey && (await loadKeyText(settings.payloadKey)).text.reveal()
  const common = {
    dataDir,
    ...(payloadKey === undefined ? {} : { payloadKey }),
    ...(requestsPerSecond === undefined ? {} : { requestsPerSecond }),
    ...(subOrganizationKeys === undefined ? {} : { subOrganizationKeys }),
  }
  if (settings.baseUrl === undefined) return common
  const { baseUrl, organizationId, key } = place ?? (await configuredPlace(settings, settings.baseUrl))
  const { privateKey, curve = 'p256', scheme } = key
  return {
    ...common,
    baseUrl,
    organizationId,
    privateKey: `${privateKey.reveal()}:${curve}`,
    ...(scheme === undefined ? {} : { stampScheme: scheme }),
  }
}

/** Loads the key in use, with how the settings want it to stamp. */
export async function loadKey(
  reference: KeyReference,
  { stampScheme }: Pick<Settings, 'stampScheme'>,
): Promise<LoadedKey & PlaceKey> {
  return { ...(await loadPrivateKey(reference)), scheme: stampScheme }
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
    key: await loadKey(settings.key, settings),
    subOrganizationKeys: settings.subOrganizationKeys,
    rate: rateOf(settings, settings.organizationId),
  }
}

/** The limit of a rate, and the folder through which processes share it. */
type RateSettings = Pick<Settings, 'requestsPerSecond' | 'dataDir'>

/** The rate of an organization: one for all processes that work with this data folder. */
export function rateOf({ requestsPerSecond, dataDir }: RateSettings, organizationId: string): Rate {
  return createRate({ requestsPerSecond, turns: createFolderTurns(join(dataDir, 'turns', organizationId)) })
}

/** Published for sends, and for whatever asks about them (docs/protocol/limits.md#requests-a-second). */
const SENDS_PER_SECOND = 10

/** Opens the clients of sends: they keep to the published rate where none is set. */
export function createSendClients(
  place: ClientPlace & Pick<Place, 'subOrganizationKeys'>,
  settings: RateSettings,
): ReturnType<typeof createClients> {
  if (settings.requestsPerSecond !== undefined) return createClients(place, settings)
  const bounded = { ...settings, requestsPerSecond: SENDS_PER_SECOND }
  return createClients({ ...place, rate: rateOf(bounded, place.organizationId) }, bounded)
}

function missing(what: string, next: string, baseUrl: string): QuorateError {
  return new QuorateError('config/invalid', `an API is named, but no ${what}`, {
    facts: { baseUrl, submitted: 'nothing' },
    next,
  })
}

/** A client that reads and has no way to submit. */
export function reader(place: ClientPlace): QueryClient {
  return createQueryClient(clientOptions(place))
}

/** A client that may submit as well. */
export function submitter(place: ClientPlace): SubmitClient {
  return createSubmitClient(clientOptions(place))
}

/** The key of a user of a sub-organization; undefined when none was given for it. */
export async function keyInside(
  { subOrganizationKeys }: Pick<Place, 'subOrganizationKeys'>,
  name: string,
): Promise<Place['key'] | undefined> {
  const path = subOrganizationKeys && join(subOrganizationKeys, `${encodeURIComponent(name)}.key`)
  return path && existsSync(path) ? loadPrivateKey({ kind: 'file', path }) : undefined
}

/**
 * Opens clients that act in an organization and in its sub-organizations: there with the key that was given for it, or with
 * the one in use. A sub-organization has a rate of its own, as the API counts (docs/protocol/limits.md#requests-a-second).
 */
export function createClients(
  place: ClientPlace & Pick<Place, 'subOrganizationKeys'>,
  settings: RateSettings,
): (organization: { readonly id: string; readonly name: string }) => Promise<SubmitClient> {
  const own = submitter(place)
  const rates = new Map<string, Rate>()
  return async ({ id, name }) => {
    if (id === place.organizationId) return own
    const rate = rates.get(id) ?? rateOf(settings, id)
    rates.set(id, rate)
    // Read each time: a key may be replaced while a worker runs.
    const key = (await keyInside(place, name)) ?? place.key
    return submitter({ ...place, organizationId: id, key, rate })
  }
}

/** The parts of a place that a client needs. */
type ClientPlace = Pick<Place, 'baseUrl' | 'organizationId' | 'key' | 'rate'>

function clientOptions({ baseUrl, organizationId, key, rate }: ClientPlace) {
  const { scheme } = key
  return { baseUrl, organizationId, stamper: createApiKeyStamper(key, scheme === undefined ? {} : { scheme }), rate }
}
