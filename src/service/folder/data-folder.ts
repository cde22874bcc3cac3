/**
 * What a data folder holds before a service starts on it. A folder is new, or it is whole: one that lacks a part of what it
 * had (a volume that was mounted late, a file that was moved away, a restore that was cut off) is refused by name, and nothing
 * is written into it. A new organization there would put a new key in the place of one that cannot be had back.
 *
 * The first start puts down a mark before anything else and takes it away once the organization is committed. Nobody was
 * answered in between, so a start that was killed there is begun again.
 */
import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createPrivate, tightenPrivate } from '../../local/index.ts'
import type { Secret } from '../../telemetry/index.ts'
import { ServiceError } from '../error.ts'
import { createSealing, serviceKeyPlace } from '../keys/index.ts'
import { peekDatabase } from '../store/index.ts'
import { BOOTSTRAP_FILE, readBootstrapFile, SETTINGS } from './bootstrap.ts'
import { DATABASE_FILE, MASTER_KEY_FILE, OPERATOR_FILE, readMasterKey } from './files.ts'

/** Stands there while the first organization is made. */
export const FIRST_START_FILE = 'first-start'

/** What is never opened but by SQLite, or holds no key. */
const OTHER_FILES = [
  'lock.db',
  'lock.pid',
  OPERATOR_FILE,
  FIRST_START_FILE,
  `${DATABASE_FILE}-wal`,
  `${DATABASE_FILE}-shm`,
]

/**
 * Checks a data folder and writes nothing. `new`: there is nothing to lose. `served`: everything is there, belongs together,
 * and the master key opens it, or the one that is to take its place. Throws `service/data-folder-incomplete`, `service/data-folder-damaged`,
 * `service/master-key-…`, `service/seal-broken`, `local/exposed`.
 */
export function checkDataFolder(
  dataDir: string,
  given: Secret<Uint8Array> | undefined,
  next?: Secret<Uint8Array>,
): 'new' | 'served' {
  const path = (name: string) => join(dataDir, name)
  for (const name of OTHER_FILES) tightenPrivate(path(name))
  const database = path(DATABASE_FILE)
  const hasDatabase = tightenPrivate(database)
  const hasLog = sizeOf(path(`${DATABASE_FILE}-wal`)) > 0
  const begun = sizeOf(path(FIRST_START_FILE)) >= 0
  const needed = given ? [DATABASE_FILE, BOOTSTRAP_FILE] : [DATABASE_FILE, MASTER_KEY_FILE, BOOTSTRAP_FILE]
  const has = needed.filter((name) => sizeOf(path(name)) >= 0)
  const peeked = hasDatabase ? peekDatabase(database) : 'empty'
  const installed = peeked !== 'damaged' && peeked !== 'empty' && peeked.setting(SETTINGS.organizationId) !== undefined
  // Killed before its organization was committed: the files there were never used.
  if (begun && !installed && peeked !== 'damaged') return 'new'
  if (has.length === 0 && !hasLog) return 'new'
  if (peeked === 'damaged') throw damaged(database, 'is no whole database')
  const lacks = needed.filter((name) => !has.includes(name))
  if (lacks.length > 0) {
    throw incomplete(dataDir, { has, lacks, ...(installed ? { facts: factsOf(peeked) } : {}) })
  }
  if (!installed) throw damaged(database, 'is empty')
  readBootstrapFile(dataDir, factsOf(peeked))
  const { sealedKey } = peeked
  const masterKey = given ?? readMasterKey(path(MASTER_KEY_FILE))
  if (sealedKey) {
    const keyring = createSealing(masterKey, (length) => new Uint8Array(length))
    if (next) keyring.add(next)
    keyring.unseal(sealedKey.sealed, serviceKeyPlace(sealedKey.name)).fill(0)
  }
  return 'served'
}

/** Marks that the first organization is being made. */
export function beginFirstStart(dataDir: string): void {
  const path = join(dataDir, FIRST_START_FILE)
  if (sizeOf(path) < 0)
    createPrivate(path, 'The first start has begun. This file goes once the organization is there.\n')
  // Of a start that was killed: its organization was never committed, so this key is nobody's.
  rmSync(join(dataDir, BOOTSTRAP_FILE), { force: true })
}

/** Marks that the first organization is there. */
export function endFirstStart(dataDir: string): void {
  rmSync(join(dataDir, FIRST_START_FILE), { force: true })
}

type Facts = Readonly<Record<'organizationId' | 'apiPublicKey', string>>

function factsOf({ setting }: { readonly setting: (name: string) => string | undefined }): Facts {
  return { organizationId: setting(SETTINGS.organizationId) ?? '', apiPublicKey: setting(SETTINGS.apiPublicKey) ?? '' }
}

/** The size of a file; -1 for one that does not exist. */
function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? -1
}

function incomplete(
  dataDir: string,
  { has, lacks, facts }: { readonly has: readonly string[]; readonly lacks: readonly string[]; readonly facts?: Facts },
): ServiceError {
  const list = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(' and ')
  const beside = has.length === 0 ? `\`${DATABASE_FILE}-wal\`` : list(has)
  return new ServiceError(
    'service/data-folder-incomplete',
    `the service’s folder lacks ${list(lacks)} beside ${beside}`,
    {
      facts: { folder: dataDir, written: 'nothing' },
      next: nextOf(dataDir, lacks, facts),
    },
  )
}

function nextOf(dataDir: string, lacks: readonly string[], facts: Facts | undefined): string {
  if (lacks.length === 1 && lacks[0] === BOOTSTRAP_FILE && facts) {
    const path = join(dataDir, BOOTSTRAP_FILE)
    return `put it back from a backup; where its private key is kept elsewhere, write one without it: \`(umask 077; echo '${JSON.stringify(facts)}' > ${path})\``
  }
  return 'mount the volume that they stand on, put them back from a backup, or restore a snapshot with `quorate snapshot restore`; for a new organization name an empty folder'
}

function damaged(path: string, how: string): ServiceError {
  return new ServiceError('service/data-folder-damaged', `\`${path}\` ${how}`, {
    facts: { path, written: 'nothing' },
    next: 'restore a snapshot with `quorate snapshot restore`, or put the file back from a backup; if nothing was ever kept here, name an empty folder',
  })
}
