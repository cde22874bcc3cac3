/** Clients of the API for the operations: at one rate an organization, with the key that was given for it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  createFolderTurns,
  createQueryClient,
  createRate,
  createRateWithin,
  createSubmitClient,
  type QueryClient,
  type Rate,
  type SubmitClient,
  type Timing,
} from '../client/index.ts'
import { createApiKeyStamper, loadPrivateKey } from '../stamp/index.ts'
import type { Place } from './place.ts'

/** The limit of a rate, and the folder through which processes share it. */
interface RateSettings {
  readonly requestsPerSecond?: number | undefined
  readonly dataDir: string
  /** Through which processes with other data folders share it as well. @default `turns` of the data folder */
  readonly turnsDir?: string | undefined
  /** @default the machine's */
  readonly timing?: Timing
}

/**
 * The rate at which those who share turns ask an API, whichever process and organization asks: the API counts by source address
 * (docs/protocol/limits.md#requests-a-second).
 */
export function rateOf(settings: RateSettings, baseUrl: string): Rate {
  return sharedRate(settings, encodeURIComponent(URL.parse(baseUrl)?.host ?? baseUrl))
}

function sharedRate(settings: RateSettings, name: string): Rate {
  const { requestsPerSecond, dataDir, turnsDir = join(dataDir, 'turns'), timing } = settings
  const clock = timing && { timing }
  return createRate({ requestsPerSecond, turns: createFolderTurns(join(turnsDir, name), timing), ...clock })
}

/** Published for one sub-organization. */
const INSIDE_PER_SECOND = 10

/** The rate of a sub-organization within that of its source address. */
export function rateInside(settings: RateSettings, organizationId: string, shared: Rate): Rate {
  const { requestsPerSecond: most, timing } = settings
  const isKnown = most !== undefined
  // Where the source address has no more, its turns are all that processes have to share: two turns on one beat would take two.
  const own =
    isKnown && most > INSIDE_PER_SECOND
      ? sharedRate({ ...settings, requestsPerSecond: INSIDE_PER_SECOND }, organizationId)
      : createRate({ requestsPerSecond: most, ...(timing && { timing }) })
  return createRateWithin(own, shared, { isKnown })
}

/** Published for sends, and for whatever asks about them (docs/protocol/limits.md#requests-a-second). */
const SENDS_PER_SECOND = 10

/** The rate of sends: the published one, within that of the source address where that is known. */
export function rateOfSends(settings: RateSettings, organizationId: string, shared: Rate): Rate {
  const { requestsPerSecond: most } = settings
  if (most !== undefined && most <= SENDS_PER_SECOND) return shared
  const own = sharedRate({ ...settings, requestsPerSecond: SENDS_PER_SECOND }, `${organizationId}-sends`)
  return most === undefined ? own : createRateWithin(own, shared, { isKnown: true })
}

/** Opens the clients of sends: they keep to the published rate, whatever is set. */
export function createSendClients(
  place: ClientPlace & Pick<Place, 'subOrganizationKeys'>,
  settings: RateSettings,
): ReturnType<typeof createClients> {
  const rate = rateOfSends(settings, place.organizationId, place.rate)
  return createClients(
    { ...place, rate },
    { ...settings, requestsPerSecond: settings.requestsPerSecond ?? SENDS_PER_SECOND },
  )
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
 * the one in use. A sub-organization has a rate of its own within that of the source address, as the API counts.
 */
export function createClients(
  place: ClientPlace & Pick<Place, 'subOrganizationKeys'>,
  settings: RateSettings,
): (organization: { readonly id: string; readonly name: string }) => Promise<SubmitClient> {
  const own = submitter(place)
  const rates = new Map<string, Rate>()
  const clients = new Map<string, SubmitClient>()
  return async ({ id, name }) => {
    if (id === place.organizationId) return own
    const rate = rates.get(id) ?? rateInside(settings, id, place.rate)
    rates.set(id, rate)
    // Read each time: a key may be replaced while a worker runs. What is known of a client is known as long as its key is the same.
    const key = (await keyInside(place, name)) ?? place.key
    const before = clients.get(id)
    if (before?.publicKey === key.publicKey) return before
    const client = submitter({ ...place, organizationId: id, key, rate })
    clients.set(id, client)
    return client
  }
}

/** The parts of a place that a client needs. */
type ClientPlace = Pick<
  Place,
  'baseUrl' | 'organizationId' | 'key' | 'rate' | 'logger' | 'deadline' | 'clock' | 'onRefusal'
>

function clientOptions({ baseUrl, organizationId, key, rate, logger, deadline, clock, onRefusal }: ClientPlace) {
  const more = logger === undefined ? {} : { logger }
  return { baseUrl, organizationId, stamper: createApiKeyStamper(key, key), rate, deadline, clock, onRefusal, ...more }
}
