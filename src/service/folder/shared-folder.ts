/**
 * The folder of a process whose rows stand in a database that others serve too. It holds the master key, the same in all of
 * these folders, and a `bootstrap.json`; the root's private key is in that of the process that began the installation.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { tightenPrivate } from '../../local/index.ts'
import type { Secret } from '../../telemetry/index.ts'
import { ServiceError } from '../error.ts'
import { readServiceKeys, type Sealing } from '../keys/index.ts'
import type { Database } from '../store/index.ts'
import type { BootstrapTools, FirstNames } from './bootstrap.ts'
import { BOOTSTRAP_FILE, createFirstOrganization, isEmpty, joinInstallation } from './bootstrap.ts'
import { beginFirstStart, endFirstStart, FIRST_START_FILE } from './data-folder.ts'
import { DATABASE_FILE, MASTER_KEY_FILE, readMasterKey } from './files.ts'

/** Refuses a folder that is a data folder of its own. Throws `service/data-folder-damaged`, `local/exposed`. */
export function checkSharedFolder(dataDir: string): void {
  for (const name of ['lock.db', 'lock.pid', FIRST_START_FILE]) tightenPrivate(join(dataDir, name))
  const path = join(dataDir, DATABASE_FILE)
  if (!existsSync(path)) return
  throw new ServiceError(
    'service/data-folder-damaged',
    `\`${path}\` is a database of its own, and DATABASE_URL names another`,
    {
      facts: { path, written: 'nothing' },
      next: 'name another folder for the service on PostgreSQL, or unset DATABASE_URL to serve the database of this one',
    },
  )
}

/**
 * Begins the installation in a database that is empty, or joins the one that is there. INVARIANT: no other process is at
 * it. Throws `service/master-key-…`, `service/seal-broken`, `service/data-folder-damaged`.
 */
export async function beginOrJoin<Tools extends BootstrapTools>(
  dataDir: string,
  {
    database,
    givenKey,
    names,
    createTools,
    createKey,
  }: {
    readonly database: Database
    readonly givenKey: Secret<Uint8Array> | undefined
    readonly names: FirstNames
    readonly createTools: (masterKey: Secret<Uint8Array>) => Tools & { readonly sealing: Sealing }
    readonly createKey: (length: number) => Uint8Array
  },
): Promise<Tools> {
  const isFirst = await isEmpty(database)
  const keyFile = join(dataDir, MASTER_KEY_FILE)
  if (isFirst) {
    const bootstrap = join(dataDir, BOOTSTRAP_FILE)
    if (existsSync(bootstrap) && !existsSync(join(dataDir, FIRST_START_FILE))) throw ofAnother(bootstrap)
    beginFirstStart(dataDir)
  } else if (!givenKey && !existsSync(keyFile)) throw keyMissing(keyFile)
  const tools = createTools(givenKey ?? readMasterKey(keyFile, isFirst ? createKey : undefined))
  if (isFirst) await createFirstOrganization(dataDir, tools, names)
  else {
    // A wrong key is noticed before anything is written.
    await database.read((tx) => readServiceKeys(tx, tools.sealing))
    await joinInstallation(dataDir, database)
  }
  endFirstStart(dataDir)
  return tools
}

function ofAnother(path: string): ServiceError {
  return new ServiceError(
    'service/data-folder-damaged',
    `\`${path}\` belongs to an installation, and the database is empty`,
    {
      facts: { path, written: 'nothing' },
      next: 'correct DATABASE_URL, or name an empty folder for a new installation',
    },
  )
}

function keyMissing(path: string): ServiceError {
  return new ServiceError(
    'service/master-key-invalid',
    `the database holds an installation, and \`${path}\` is missing`,
    {
      facts: { path, written: 'nothing' },
      next: 'copy `master.key`, which all processes on one database share, from the folder of another one or from a backup',
    },
  )
}
