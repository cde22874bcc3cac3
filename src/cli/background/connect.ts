import { join } from 'node:path'
import { KEY_VARIABLE, type Settings, settingRows } from '../../config/index.ts'
import { QuorateError } from '../../diagnostics/index.ts'
import { type Place, type PlaceKey, rateOf } from '../../operations/index.ts'
import { type KeyReference, type LoadedKey, loadKeyText, loadPrivateKey } from '../../stamp/index.ts'
import type { CommandInput } from '../command.ts'
import { line } from '../screen.ts'
import type { BackgroundStart } from './model.ts'
import { ensureBackground } from './start.ts'

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

function missing(what: string, next: string, baseUrl: string): QuorateError {
  return new QuorateError('config/invalid', `an API is named, but no ${what}`, {
    facts: { baseUrl, submitted: 'nothing' },
    next,
  })
}
