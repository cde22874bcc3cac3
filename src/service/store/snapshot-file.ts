import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { SETTING_OF_FIRST_ORGANIZATION, SETTING_OF_RESTORE } from './installation.ts'

/**
 * A snapshot is one SQLite file: the database as it was at one moment, and beside its tables one more with the files
 * that belong to it.
 */
const TABLE = 'snapshot_files'

/** More than any database has: SQLite counts its pages in 32 bits with a sign. */
const MAX_PAGES = 2 ** 31 - 1

/** What a database is of. */
export interface DatabaseFacts {
  readonly organizationId: string
  readonly activities: number
}

/** Copies a database that may be in use into a file that is empty, and puts texts beside it. */
export async function packDatabase(
  source: string,
  file: string,
  texts: ReadonlyMap<string, string>,
): Promise<DatabaseFacts> {
  const live = new DatabaseSync(source, { readOnly: true })
  try {
    // All pages in one step: readers do not hold up a writer (WAL), and a copy in steps begins anew after every write.
    await backup(live, file, { rate: MAX_PAGES })
  } finally {
    live.close()
  }
  return using(file, false, (copy) => {
    copy.exec(`pragma journal_mode = delete; create table ${TABLE} (name text primary key, text text not null) strict`)
    const insert = copy.prepare(`insert into ${TABLE} values (?, ?)`)
    for (const [name, text] of texts) insert.run(name, text)
    return factsOf(copy)
  })
}

/** Makes a plain database of a copy of a snapshot, and returns the texts that stood beside it. */
export function unpackDatabase(
  file: string,
  { restoredAt }: { readonly restoredAt: string },
): ReadonlyMap<string, string> {
  return using(file, false, (copy) => {
    // What was sent since it was saved is not in it (`resources/sends/lanes-store.ts`).
    copy.prepare('insert or replace into settings (name, value) values (?, ?)').run(SETTING_OF_RESTORE, restoredAt)
    // Nor is what became of the sends that are open in it; a snapshot of before version 0045 of the schema says nothing of that.
    const isKept = copy.prepare("select 1 from pragma_table_info('sends') where name = 'held_by_restore'").get()
    if (isKept) copy.exec("update sends set held_by_restore = 1 where status in ('INITIALIZED', 'BROADCASTING')")
    const rows = copy.prepare(`select name, text from ${TABLE}`).all() as { name: string; text: string }[]
    // What is deleted is overwritten, so that a master key does not stay in a free page of the database.
    copy.exec(`pragma secure_delete = on; drop table ${TABLE}; vacuum`)
    return new Map(rows.map(({ name, text }) => [name, text]))
  })
}

/** Reads what a snapshot is of; undefined when the file is no whole one. */
export function readSnapshotFile(file: string): DatabaseFacts | undefined {
  // Immutable: nothing is made beside a file that may be no snapshot, such as the database of a service that runs.
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  try {
    return using(url, true, (copy) => {
      const check = copy.prepare('pragma integrity_check').get()?.['integrity_check']
      const found = copy.prepare("select count(*) as n from sqlite_schema where name in (?, 'settings')").get(TABLE)
      return check === 'ok' && found?.['n'] === 2 ? factsOf(copy) : undefined
    })
  } catch {
    return undefined
  }
}

/** Reads what a database is of. */
export function readDatabaseFacts(file: string): DatabaseFacts {
  return using(file, true, factsOf)
}

/** The webhooks that were given up and are remembered: how many, and the last of them. */
export interface GivenUpWebhooks {
  readonly count: number
  readonly last?: { readonly host: string; readonly reason: string; readonly failedAt: number }
}

/** Reads which webhooks a database has given up; none of one that is older than webhooks are. */
export function readGivenUpWebhooks(file: string): GivenUpWebhooks {
  return using(file, true, (database) => {
    const table = database.prepare("select 1 from sqlite_schema where name = 'webhook_failures'").get()
    if (table === undefined) return { count: 0 }
    const { count } = database.prepare('select count(*) as count from webhook_failures').get()!
    const last = database
      .prepare('select host, reason, failed_at as failedAt from webhook_failures order by position desc limit 1')
      .get() as GivenUpWebhooks['last']
    return { count: Number(count), ...(last ? { last: { ...last } } : {}) }
  })
}

function using<T>(file: string | URL, readOnly: boolean, use: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file, { readOnly })
  try {
    return use(database)
  } finally {
    database.close()
  }
}

function factsOf(database: DatabaseSync): DatabaseFacts {
  const organization = database.prepare('select value from settings where name = ?').get(SETTING_OF_FIRST_ORGANIZATION)
  const activities = database.prepare('select count(*) as n from activities').get()
  return { organizationId: String(organization?.['value']), activities: Number(activities?.['n']) }
}
