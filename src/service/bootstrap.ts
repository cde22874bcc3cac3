import { join } from 'node:path'
import { newUuid, type RandomBytes } from '../crypto/index.ts'
import { type Logger, Secret } from '../telemetry/index.ts'
import { ServiceError } from './error.ts'
import { readIfThere, writeWhole } from './files.ts'
import type { Sealing } from './sealing.ts'
import { prepareRelayers, type RelayerAddresses } from './sends/relayers.ts'
import { createKeyPair, createServiceKeys, readServiceKeys } from './service-keys.ts'
import {
  type Database,
  insertFirstOrganization,
  insertSetting,
  readSetting,
  SETTING_OF_FIRST_ORGANIZATION,
  type Transaction,
} from './store/index.ts'

/** What somebody needs to use a new installation; `bootstrap.json` holds it (design: the service). */
export interface Bootstrap {
  readonly baseUrl: string
  readonly organizationId: string
  readonly rootUserId: string
  /** The root user's first API key. Who has taken the private half out of `bootstrap.json` keeps it elsewhere. */
  readonly apiPublicKey: string
  readonly apiPrivateKey?: Secret
  /** The keys that clients pin: hex, uncompressed. */
  readonly signerPublicKey: string
  readonly notarizerPublicKey: string
  readonly tlsFetcherPublicKey: string
  /** What pays for sponsored sends, by the namespace of the chain; it needs funds there. */
  readonly relayers: RelayerAddresses
}

export interface FirstNames {
  readonly organizationName: string
  readonly rootUserName: string
  readonly keyName: string
}

export interface BootstrapTools {
  readonly database: Database
  readonly sealing: Sealing
  readonly randomBytes: RandomBytes
  readonly clock: () => number
  readonly logger: Logger
}

/** Names of what the database itself remembers of the first organization. */
const SETTINGS = {
  organizationId: SETTING_OF_FIRST_ORGANIZATION,
  rootUserId: 'first-user-id',
  apiPublicKey: 'first-api-public-key',
} as const

type Facts = Pick<Bootstrap, keyof typeof SETTINGS>

/** Whether the database has no organization yet. */
export async function isEmpty(database: Database): Promise<boolean> {
  return (await database.read((tx) => readSetting(tx, SETTINGS.organizationId))) === undefined
}

/**
 * Makes the first organization, its root user and key, and the service's keys, in an empty database. The private key is
 * on disk before the database says that there is an organization: a crash in between leaves a file that the next start
 * replaces, never an organization that nobody can enter.
 */
export async function createFirstOrganization(
  dataDir: string,
  tools: BootstrapTools,
  names: FirstNames,
): Promise<void> {
  const { database, randomBytes, clock } = tools
  const { privateKey, publicKey } = createKeyPair(randomBytes)
  await database.write(async (tx) => {
    const now = clock()
    const facts = { organizationId: newUuid(randomBytes), rootUserId: newUuid(randomBytes), apiPublicKey: publicKey }
    await insertFirstOrganization(
      tx,
      {
        id: facts.organizationId,
        name: names.organizationName,
        user: { id: facts.rootUserId, name: names.rootUserName },
        apiKey: { id: newUuid(randomBytes), name: names.keyName, publicKey },
      },
      now,
    )
    await createServiceKeys(tx, { ...tools, now })
    for (const [fact, name] of Object.entries(SETTINGS)) await insertSetting(tx, name, facts[fact as keyof Facts])
    write(dataDir, { ...facts, apiPrivateKey: new Secret(privateKey) })
  })
}

/**
 * Reads what the installation is and writes `bootstrap.json` anew for the address it listens on now. A file that was
 * removed comes back without the private key, which nobody else has. Throws `service/data-folder-damaged`,
 * `service/seal-broken`.
 */
export async function refreshBootstrap(dataDir: string, tools: BootstrapTools, baseUrl: string): Promise<Bootstrap> {
  const relayers = await prepareRelayers(tools)
  const { facts, keys } = await tools.database.read(async (tx) => ({
    facts: await readFacts(tx),
    keys: await readServiceKeys(tx, tools.sealing),
  }))
  const apiPrivateKey = readPrivateKey(dataDir, facts, tools.logger)
  const bootstrap: Bootstrap = {
    baseUrl,
    ...facts,
    ...(apiPrivateKey === undefined ? {} : { apiPrivateKey }),
    signerPublicKey: keys.signer,
    notarizerPublicKey: keys.notarizer,
    tlsFetcherPublicKey: keys['tls-fetcher'],
    relayers,
  }
  write(dataDir, bootstrap)
  return bootstrap
}

async function readFacts(tx: Transaction): Promise<Facts> {
  const read = async (name: string) => (await readSetting(tx, name))!
  return {
    organizationId: await read(SETTINGS.organizationId),
    rootUserId: await read(SETTINGS.rootUserId),
    apiPublicKey: await read(SETTINGS.apiPublicKey),
  }
}

function readPrivateKey(dataDir: string, facts: Facts, logger: Logger): Secret | undefined {
  const path = join(dataDir, 'bootstrap.json')
  const text = readIfThere(path)
  if (text === undefined) {
    logger.warn('bootstrap.json is missing and is written again without the private key', { path })
    return undefined
  }
  const file = parse(path, text)
  if (file['organizationId'] !== facts.organizationId || file['apiPublicKey'] !== facts.apiPublicKey) {
    throw damaged(path, 'belongs to another installation')
  }
  const key = file['apiPrivateKey']
  return typeof key === 'string' ? new Secret(key) : undefined
}

function parse(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    throw damaged(path, 'is no JSON')
  }
}

function damaged(path: string, how: string): ServiceError {
  return new ServiceError('service/data-folder-damaged', `\`${path}\` ${how}`, {
    facts: { path },
    next: 'put the right file back, or remove it: it is then written again without the private key',
  })
}

function write(dataDir: string, bootstrap: Partial<Bootstrap>): void {
  const { apiPrivateKey, ...rest } = bootstrap
  const file = apiPrivateKey ? { ...rest, apiPrivateKey: apiPrivateKey.reveal() } : rest
  writeWhole(join(dataDir, 'bootstrap.json'), `${JSON.stringify(file, null, 2)}\n`)
}
