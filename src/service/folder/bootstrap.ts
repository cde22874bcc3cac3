import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { compressP256, newUuid, type RandomBytes } from '../../crypto/index.ts'
import { createPrivate, readPrivate, writePrivate } from '../../local/index.ts'
import { type Logger, Secret } from '../../telemetry/index.ts'
import { ServiceError } from '../error.ts'
import { createKeyPair, createServiceKeys, readServiceKeys, type Sealing } from '../keys/index.ts'
import { findAuthProxy, newAuthProxy, replaceAuthProxy } from '../resources/auth-proxy/store.ts'
import { prepareRelayers, type RelayerAddresses } from '../sends/index.ts'
import {
  type Database,
  insertFirstOrganization,
  insertSetting,
  lockInstallation,
  readSetting,
  SETTING_OF_FIRST_ORGANIZATION,
  type Transaction,
} from '../store/index.ts'

/** In a data folder: what somebody needs to use it. */
export const BOOTSTRAP_FILE = 'bootstrap.json'

/** The first credentials and addresses of a new installation; `bootstrap.json` holds them. */
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
  readonly tlsFetcherEncryptionPublicKey: string
  /** Compressed, as published clients take it. */
  readonly onRampEncryptionPublicKey: string
  /** The addresses that pay for sponsored sends, by the namespace of the chain; it needs funds there. */
  readonly relayers: RelayerAddresses
  /** Where the authentication proxy listens; absent where this service runs none. */
  readonly authProxyUrl?: string
  /** The organization's configuration of the authentication proxy, which is off until somebody enables it. */
  readonly authProxyConfigId: string
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
export const SETTINGS = {
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
 * on disk before the database says that there is an organization: a crash in between leaves a key of nobody, never an
 * organization that nobody can enter. INVARIANT: a file that is there is never overwritten; its key cannot be had back.
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
    createPrivate(join(dataDir, BOOTSTRAP_FILE), toText({ ...facts, apiPrivateKey: new Secret(privateKey) }))
  })
}

/** Writes the `bootstrap.json` of a process that joins an installation: it never had the root's private key. */
export async function joinInstallation(dataDir: string, database: Database): Promise<void> {
  const path = join(dataDir, BOOTSTRAP_FILE)
  if (!existsSync(path)) createPrivate(path, toText(await database.read(readFacts)))
}

/**
 * Reads what the installation is and brings `bootstrap.json` up to the address it listens on now; the private key in it stays
 * as it was read. Throws `service/data-folder-damaged`, `service/seal-broken`.
 */
export async function refreshBootstrap(
  dataDir: string,
  tools: BootstrapTools,
  { baseUrl, authProxyUrl }: Pick<Bootstrap, 'baseUrl' | 'authProxyUrl'>,
): Promise<Bootstrap> {
  const relayers = await prepareRelayers(tools)
  const authProxyConfigId = await prepareAuthProxy(tools)
  await tools.database.write((tx) => createServiceKeys(tx, { ...tools, now: tools.clock() }))
  const { facts, keys } = await tools.database.read(async (tx) => ({
    facts: await readFacts(tx),
    keys: await readServiceKeys(tx, tools.sealing),
  }))
  const before = readBootstrapFile(dataDir, facts)
  const { apiPrivateKey } = before
  const bootstrap: Bootstrap = {
    baseUrl,
    ...facts,
    ...(apiPrivateKey === undefined ? {} : { apiPrivateKey }),
    signerPublicKey: keys.signer,
    notarizerPublicKey: keys.notarizer,
    tlsFetcherPublicKey: keys['tls-fetcher'],
    tlsFetcherEncryptionPublicKey: keys['tls-fetcher-encryption'],
    onRampEncryptionPublicKey: compressP256(keys['on-ramp-encryption'])!,
    relayers,
    ...(authProxyUrl === undefined ? {} : { authProxyUrl }),
    authProxyConfigId,
  }
  const text = toText(bootstrap)
  if (text !== before.text) writePrivate(join(dataDir, BOOTSTRAP_FILE), text)
  return bootstrap
}

/** Gives the first organization an authentication proxy that is off, so that its id is known before anybody enables it. */
async function prepareAuthProxy({ database, randomBytes, clock }: BootstrapTools): Promise<string> {
  return database.write(async (tx) => {
    await lockInstallation(tx)
    const organizationId = (await readSetting(tx, SETTINGS.organizationId))!
    const there = await findAuthProxy(tx, organizationId)
    if (there) return there.config_id
    const proxy = newAuthProxy(organizationId, { configId: newUuid(randomBytes), now: clock() })
    await replaceAuthProxy(tx, proxy)
    return proxy.config_id
  })
}

async function readFacts(tx: Transaction): Promise<Facts> {
  const read = async (name: string) => (await readSetting(tx, name))!
  return {
    organizationId: await read(SETTINGS.organizationId),
    rootUserId: await read(SETTINGS.rootUserId),
    apiPublicKey: await read(SETTINGS.apiPublicKey),
  }
}

/**
 * Reads the `bootstrap.json` of an installation: its text, and the private key unless somebody took it out. Throws
 * `service/data-folder-damaged` when it is missing, no JSON, or another installation's, and `local/exposed`.
 */
export function readBootstrapFile(
  dataDir: string,
  facts: Pick<Facts, 'organizationId' | 'apiPublicKey'>,
): { readonly text: string; readonly apiPrivateKey?: Secret } {
  const path = join(dataDir, BOOTSTRAP_FILE)
  const text = readPrivate(path)
  if (text === undefined) throw damaged(path, 'is missing')
  const file = parse(path, text)
  if (file['organizationId'] !== facts.organizationId || file['apiPublicKey'] !== facts.apiPublicKey) {
    throw damaged(path, 'belongs to another installation')
  }
  const key = file['apiPrivateKey']
  return { text, ...(typeof key === 'string' ? { apiPrivateKey: new Secret(key) } : {}) }
}

function parse(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    throw damaged(path, 'is no JSON')
  }
}

function damaged(path: string, how: string): ServiceError {
  return new ServiceError('service/data-folder-damaged', `\`${path}\` ${how}`, {
    facts: { path, written: 'nothing' },
    next: 'put the right file back from a backup, or the database that belongs to it',
  })
}

function toText(bootstrap: Partial<Bootstrap>): string {
  const { apiPrivateKey, ...rest } = bootstrap
  const file = apiPrivateKey ? { ...rest, apiPrivateKey: apiPrivateKey.reveal() } : rest
  return `${JSON.stringify(file, null, 2)}\n`
}
