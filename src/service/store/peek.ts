import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'

/** The installation settings in a database file, read before a service opens it. */
export interface Peeked {
  /** By name; a setting that is not there is undefined. */
  readonly setting: (name: string) => string | undefined
  /** One of the service's own sealed keys. */
  readonly sealedKey?: { readonly name: string; readonly sealed: Uint8Array }
}

/** SQLite's primary result codes of a file that is no whole database (sqlite.org/rescode.html). */
const DAMAGED: ReadonlySet<number> = new Set([11, 26])

/** Reads a database without bringing it to a newer schema; `damaged` when it is no whole one, `empty` without an installation. */
export function peekDatabase(file: string): Peeked | 'damaged' | 'empty' {
  try {
    const database = new DatabaseSync(readingOf(file), { readOnly: true, timeout: 2000 })
    try {
      const tables = database.prepare("select name from sqlite_schema where name in ('settings', 'service_keys')").all()
      if (!tables.some(({ name }) => name === 'settings')) return 'empty'
      const settings = new Map(
        database
          .prepare('select name, value from settings')
          .all()
          .map(({ name, value }) => [String(name), String(value)]),
      )
      const setting = (name: string) => settings.get(name)
      if (tables.length < 2) return { setting }
      const row = database.prepare('select name, sealed_private_key as sealed from service_keys limit 1').get()
      if (!row) return { setting }
      return { setting, sealedKey: { name: String(row['name']), sealed: row['sealed'] as Uint8Array } }
    } finally {
      database.close()
    }
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && DAMAGED.has(Number(error.errcode) & 0xff)) return 'damaged'
    throw error
  }
}

/** A reader makes SQLite's files beside a database and cannot remove them; without a log there is nothing that needs them. */
export function readingOf(file: string): string | URL {
  if (existsSync(`${file}-wal`)) return file
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  return url
}
