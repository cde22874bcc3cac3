import { createApiClock } from '../../client/index.ts'
import { KEY_VARIABLE, type Settings, settingRows, takeEnvironment } from '../../config/index.ts'
import { QuorateError } from '../../diagnostics/index.ts'
import { type Place, type PlaceKey, rateOf, reader } from '../../operations/index.ts'
import { openSessions } from '../../session/index.ts'
import { type KeyReference, loadKeyText, loadPrivateKey } from '../../stamp/index.ts'
import type { CommandInput } from '../command.ts'
import { line } from '../screen.ts'
import { createWaitLogger } from '../waiting.ts'
import { bootstrapOrganization, bootstrapPath } from './bootstrap.ts'
import { lookAtBackground } from './control.ts'
import type { BackgroundAnswer, BackgroundStart } from './model.ts'
import { assertPlanStore } from './plan-store-place.ts'
import { assertServiceHere } from './service-here.ts'
import { ensureBackground } from './start.ts'

/** The API and the organization that a command works with, whichever key it will use. */
export type Api = Omit<Place, 'key' | 'subOrganizationKeys' | 'rate' | 'logger'>

/** What a command is about to do. */
export interface Doing {
  /** Whether it acts, and so may bring back what the data folder had. What only looks brings up nothing. @default false */
  readonly acts?: boolean
}

/**
 * Finds out where a command works: as the settings say, or in the embedded service of the data folder, which is brought up for
 * what acts. Throws `cli/no-service-here`, and for what only looks `cli/background-down`.
 */
export async function findApi(
  input: Pick<CommandInput, 'settings' | 'io' | 'environment'>,
  { acts = false }: Doing = {},
): Promise<Api> {
  const { settings, io } = input
  assertPlanStore(settings)
  if (settings.baseUrl !== undefined) return configuredApi(settings, settings.baseUrl)
  await assertServiceHere(input)
  const status = await ensureBackground(
    { dataDir: settings.dataDir },
    { announce: (text) => io.say(line`${text}\n`), isLook: !acts },
  )
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
  }
}

/** The organization of the data folder, for a command that only looks. */
export interface SeenApi extends Pick<Api, 'organizationId' | 'now'> {
  /** Whether the process does not answer that would carry out what is open here: it is down, hangs, or comes up. */
  readonly isDown?: boolean
  /** The one that runs and does not answer. */
  readonly silent?: Extract<BackgroundAnswer, { readonly state: 'silent' }>
}

/** Finds out what organization is worked with, and starts nothing; undefined where nothing ever ran. */
export async function findSeen({ settings }: Pick<CommandInput, 'settings'>): Promise<SeenApi | undefined> {
  assertPlanStore(settings)
  const { baseUrl, dataDir } = settings
  if (baseUrl !== undefined) return configuredApi(settings, baseUrl)
  const answer = await lookAtBackground(dataDir)
  if (answer?.state === 'up') {
    const { organizationId, operator } = answer.status
    return { organizationId: settings.organizationId ?? organizationId, now: () => Date.now() + operator.aheadMs }
  }
  const began = bootstrapOrganization(dataDir)
  const organizationId = settings.organizationId ?? began
  if (organizationId === undefined) return undefined
  return { organizationId, now: Date.now, isDown: true, ...(answer?.state === 'silent' ? { silent: answer } : {}) }
}

/** Where a command works, with the key in use; without a deadline for what goes on however long it takes. */
export async function findPlace(
  input: Pick<CommandInput, 'settings' | 'io' | 'environment'> & Partial<Pick<CommandInput, 'deadline'>>,
  doing: Doing = {},
): Promise<Place> {
  const place = await withKey(input.settings, await findApi(input, doing))
  return { ...place, ...waitingOf(input, place.baseUrl) }
}

/** How the clients of a command wait: they say so, and end at its deadline. */
export function waitingOf(
  { io, deadline }: Pick<CommandInput, 'io'> & Partial<Pick<CommandInput, 'deadline'>>,
  baseUrl: string,
): Pick<Place, 'logger' | 'deadline'> {
  return { logger: createWaitLogger(io, baseUrl), ...(deadline ? { deadline } : {}) }
}

/** Makes the client of a command that looks at an API as it is and starts nothing. Throws as `keyInUse` does. */
export async function readerAt(
  input: Pick<CommandInput, 'settings' | 'io' | 'deadline'>,
  at: Pick<Api, 'baseUrl' | 'organizationId'>,
): Promise<ReturnType<typeof reader>> {
  const { settings } = input
  const key = await keyInUse(settings, { ...at, embedded: settings.baseUrl === undefined })
  return reader({ ...at, key, rate: rateOf(settings, at.baseUrl), ...waitingOf(input, at.baseUrl) })
}

async function withKey(settings: Settings, api: Api): Promise<Place> {
  return {
    ...api,
    key: await keyInUse(settings, api, api.now()),
    subOrganizationKeys: settings.subOrganizationKeys,
    rate: rateOf(settings, api.baseUrl),
  }
}

/**
 * The key in use: the one that is given, else that of the session that is kept, else the embedded service's root key. A
 * session that has expired is no reason to act as somebody else. Throws `session/expired`, or that there is no key.
 */
export async function keyInUse(
  settings: Settings,
  api: Pick<Api, 'baseUrl' | 'organizationId' | 'embedded'>,
  now: number = Date.now(),
): Promise<PlaceKey> {
  if (settings.key) return loadKey(settings.key, settings)
  const session = await openSessions(settings.sessions).find(api)
  if (session && session.expiresAt <= now) {
    const ended = new Date(session.expiresAt).toISOString()
    throw new QuorateError('session/expired', `the session of ${session.userName} ended at ${ended}`, {
      facts: { baseUrl: api.baseUrl, organizationId: api.organizationId, submitted: 'nothing' },
      next: 'log in again with `quorate login`, or end it with `quorate logout`',
    })
  }
  if (session) return { privateKey: session.privateKey, publicKey: session.publicKey, curve: 'p256' }
  if (api.embedded) return loadKey(bootstrapKey(settings.dataDir), settings)
  const { environment, flag } = settingRows.keyFile
  throw missing('API key', `set ${environment} or ${KEY_VARIABLE}, give ${flag}, or log in with \`quorate login\``, api)
}

/** The settings of the background process; the key goes to it once, over a pipe. */
export async function backgroundStart(settings: Settings, place?: Place): Promise<BackgroundStart> {
  const { dataDir, requestsPerSecond, turnsDir, subOrganizationKeys } = settings
  const payloadKey = settings.payloadKey && (await loadKeyText(settings.payloadKey)).text.reveal()
  const common = {
    dataDir,
    ...(payloadKey === undefined ? {} : { payloadKey }),
    ...(requestsPerSecond === undefined ? {} : { requestsPerSecond }),
    ...(turnsDir === undefined ? {} : { turnsDir }),
    ...(subOrganizationKeys === undefined ? {} : { subOrganizationKeys }),
  }
  if (settings.baseUrl === undefined) return common
  const { baseUrl, organizationId, key } = place ?? (await withKey(settings, configuredApi(settings, settings.baseUrl)))
  const { curve = 'p256', scheme } = key
  return {
    ...common,
    baseUrl,
    organizationId,
    ...('signKey' in key ? { keptKey: { signKey: key.signKey, publicKey: key.publicKey, curve: key.curve } } : {}),
    ...('signCommand' in key ? { signingKey: { ...key, curve } } : {}),
    ...('signKey' in key || 'signCommand' in key ? {} : { privateKey: `${key.privateKey.reveal()}:${curve}` }),
    ...(scheme === undefined ? {} : { stampScheme: scheme }),
  }
}

/** Loads the key in use, with how the settings want it to stamp; one behind a command stays there. */
export async function loadKey(
  reference: NonNullable<Settings['key']>,
  { stampScheme }: Pick<Settings, 'stampScheme'>,
): Promise<PlaceKey> {
  if (reference.kind === 'sign key') {
    const { kind: _, ...key } = reference
    return { ...key, tools: { environment: takeEnvironment() }, scheme: stampScheme }
  }
  if (reference.kind !== 'sign command') return { ...(await loadPrivateKey(reference)), scheme: stampScheme }
  const { kind: _, ...key } = reference
  return { ...key, scheme: stampScheme }
}

/** The embedded service's root key. */
export function bootstrapKey(dataDir: string): Extract<KeyReference, { kind: 'file' }> {
  return { kind: 'file', path: bootstrapPath(dataDir) }
}

function configuredApi(settings: Settings, baseUrl: string): Api {
  const { environment, flag } = settingRows.organizationId
  if (settings.organizationId === undefined)
    throw missing('organization', `set ${environment} or give ${flag}`, { baseUrl })
  const clock = createApiClock()
  return { baseUrl, organizationId: settings.organizationId, embedded: false, now: clock.now, clock }
}

function missing(what: string, next: string, { baseUrl }: Pick<Api, 'baseUrl'>): QuorateError {
  return new QuorateError('config/invalid', `an API is named, but no ${what}`, {
    facts: { baseUrl, submitted: 'nothing' },
    next,
  })
}
