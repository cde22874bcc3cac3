/** What stands sealed in the rows of a service, read and written beside it, by Node's own cipher. */
import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Secret } from '../../src/telemetry/index.ts'
import type { ProcessClient } from './process.ts'

export const keyOf = (folder: string, name = 'master.key') =>
  Buffer.from(readFileSync(join(folder, name), 'utf8').trim(), 'hex')

/** Statements against the rows of a service, beside it. */
export interface Rows {
  query(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  readonly tables: () => Promise<string[]>
  close(): Promise<void>
}

/** Opened for each statement: a service that starts must find nobody in its database. */
export function sqlite(folder: string): Rows {
  const query: Rows['query'] = async (sql, values = []) => {
    const database = new DatabaseSync(join(folder, 'quorate.db'), { timeout: 5_000 })
    try {
      return database.prepare(sql.replaceAll(/\$\d+/g, '?')).all(...(values as never[]))
    } finally {
      database.close()
    }
  }
  const tables = async () =>
    (await query("select name from sqlite_schema where type = 'table'")).map(({ name }) => String(name))
  return { query, tables, close: async () => {} }
}

export async function postgres(url: Secret): Promise<Rows> {
  const client = new pg.Client({ connectionString: url.reveal() })
  await client.connect()
  const query: Rows['query'] = async (sql, values = []) => (await client.query(sql, [...values])).rows
  const tables = async () =>
    (await query("select tablename as name from pg_tables where schemaname = 'public'")).map(({ name }) => String(name))
  return { query, tables, close: () => client.end() }
}

/** AES-256-GCM as docs/master-key.md has it, by Node alone: version, nonce, ciphertext, tag; the place is authenticated. */
function opens(key: Buffer, sealed: Uint8Array, place: readonly string[]): boolean {
  if (sealed.length < 29 || sealed[0] !== 1) return false
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 13))
  decipher.setAAD(Buffer.concat([Buffer.of(1), Buffer.from(JSON.stringify(place))]))
  decipher.setAuthTag(sealed.subarray(-16))
  try {
    decipher.update(sealed.subarray(13, -16))
    decipher.final()
    return true
  } catch {
    return false
  }
}

function sealFor(key: Buffer, plain: string, place: readonly string[]): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.concat([Buffer.of(1), Buffer.from(JSON.stringify(place))]))
  return Buffer.concat([Buffer.of(1), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** What might be sealed in a stored value, whatever column it is in. */
function candidates(value: unknown): Uint8Array[] {
  if (value instanceof Uint8Array) return [value]
  if (typeof value !== 'string') return []
  if (value.startsWith('sealed:')) return [Buffer.from(value.slice(7), 'base64')]
  return [...value.matchAll(/"(01(?:[0-9a-f]{2}){28,})"/g)].map(([, hex]) => Buffer.from(hex!, 'hex'))
}

/** Looks through every column of every row for what a key opens, and says where it stands. */
export async function openedBy(rows: Rows, keys: Readonly<Record<string, Buffer>>): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = Object.fromEntries(Object.keys(keys).map((name) => [name, []]))
  for (const table of await rows.tables()) {
    for (const row of await rows.query(`select * from "${table}"`)) {
      const ids = Object.entries(row).flatMap(([name, value]) =>
        /^(id|name|public_key|.*_id)$/.test(name) ? [String(value)] : [],
      )
      for (const [column, value] of Object.entries(row))
        for (const sealed of candidates(value))
          for (const [name, key] of Object.entries(keys))
            if (ids.some((id) => [table, 'webhook_deliveries'].some((of) => opens(key, sealed, [of, id, column]))))
              found[name]!.push(`${table}.${column}`)
    }
  }
  return found
}

export const distinct = (places: readonly string[]) => [...new Set(places)].sort()

/** Secrets beside those that somebody has imported, so that sealing anew takes a while. */
export async function fill(
  rows: Rows,
  { organizationId, key, count }: { organizationId: string; key: Buffer; count: number },
) {
  for (let position = 1; position <= count; ) {
    const values: unknown[] = []
    const places: string[] = []
    for (let n = 0; n < 1_000 && position <= count; n++, position++) {
      const id = randomUUID()
      const at = values.push(id, organizationId, sealFor(key, 'secret', ['secrets', id, 'sealed_secret']), position)
      places.push(`($${at - 3}, $${at - 2}, null, '[]', $${at - 1}, $${at}, 1, 0)`)
    }
    await rows.query(
      `insert into secrets (id, organization_id, name, static_properties, sealed_secret, position, created_at, exported)
        values ${places.join(', ')}`,
      values,
    )
  }
}

export const privateKey = (client: ProcessClient) =>
  client.body('ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', {
    privateKeys: [{ privateKeyName: randomUUID(), curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] }],
  })
