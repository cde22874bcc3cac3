import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Database,
  insertFirstOrganization,
  insertSetting,
  lockOrganization,
  openPostgres,
  readSetting,
  StoreUnavailable,
  type Transaction,
  writeSetting,
} from '../../../src/service/store/index.ts'
import { migrate } from '../../../src/service/store/migrations.ts'
import type { Secret } from '../../../src/telemetry/index.ts'
import { findPostgres, startPostgres, type TestPostgres } from '../../postgres.ts'
import { CONTACTS_SINCE, writeContactsOfBefore } from './contacts-of-before.ts'
import { storeContract } from './contract.ts'
import { SECRETS_SINCE, writeSecretsOfBefore } from './secrets-of-before.ts'

let server: TestPostgres
const open = (url: Secret) => openPostgres({ url, connections: 3 }, { now: 1 })

/** Two handles, as two processes have them, on one database with two parents. */
async function withTwo(work: (one: Database, two: Database, url: Secret) => Promise<void>): Promise<void> {
  const url = await server.create()
  const [one, two] = await Promise.all([open(url), open(url)])
  try {
    for (const id of ['o', 'p']) {
      const first = {
        id,
        name: 'o',
        user: { id: `u${id}`, name: 'u' },
        apiKey: { id: `k${id}`, name: 'k', publicKey: id },
      }
      await one.write((tx) => insertFirstOrganization(tx, first, 5))
    }
    await work(one, two, url)
  } finally {
    await Promise.all([one.close(), two.close()])
  }
}

/** Counts up in a setting, as code does that reads before it writes. */
async function count(tx: Transaction, name: string): Promise<void> {
  const before = Number((await readSetting(tx, name)) ?? 0)
  await writeSetting(tx, name, String(before + 1))
}

describe.skipIf(findPostgres() === undefined)('PostgreSQL', () => {
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  storeContract('PostgreSQL', async () => open(await server.create()))

  test('schema: the same tables, columns, keys and indexes as in SQLite', async () => {
    const url = await server.create()
    await (await open(url)).close()
    const client = new pg.Client({ connectionString: url.reveal() })
    await client.connect()
    const ofPostgres = (
      await client.query(`select c.relname as "table", a.attname as "column", a.attnotnull as "isNeeded"
        from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public' and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`)
    ).rows.map((row) => `${row.table}.${row.column}${row.isNeeded ? ' not null' : ''}`)
    const indexes = (
      await client.query(`select t.relname as "table", i.indisunique as "isUnique", i.indpred is not null as "isPartial",
        array_to_string(array(select coalesce(a.attname, 'an expression') from unnest(i.indkey) with ordinality k(n, at)
        left join pg_attribute a on a.attrelid = t.oid and a.attnum = k.n and k.n > 0 order by at), ',') as columns
        from pg_index i join pg_class t on t.oid = i.indrelid join pg_namespace n on n.oid = t.relnamespace
        where n.nspname = 'public'`)
    ).rows.map(
      (row) => `${row.table} (${row.columns})${row.isUnique ? ' unique' : ''}${row.isPartial ? ' partial' : ''}`,
    )
    const { rows: references } = await client.query("select count(*) as n from pg_constraint where contype = 'f'")
    await client.end()

    const database = new DatabaseSync(':memory:')
    migrate(database, 1)
    const rows = (sql: string) => database.prepare(sql).all()
    const ofSqlite = rows(`select t.name as "table", c.name as "column", c."notnull" or c.pk as isNeeded
      from pragma_table_list t join pragma_table_info(t.name) c where t.name not like 'sqlite_%'`)
    expect(ofPostgres.sort()).toEqual(
      ofSqlite.map((row) => `${row['table']}.${row['column']}${row['isNeeded'] ? ' not null' : ''}`).sort(),
    )
    const ofIndexes = rows(`select t.name as "table", i."unique" as isUnique, i.partial,
      (select group_concat(coalesce(name, 'an expression'), ',' order by seqno) from pragma_index_info(i.name)) as columns
      from pragma_table_list t join pragma_index_list(t.name) i where t.name not like 'sqlite_%'`).map(
      (row) =>
        `${row['table']} (${row['columns']})${row['isUnique'] ? ' unique' : ''}${row['partial'] ? ' partial' : ''}`,
    )
    // The keys that are SQLite's own number of a row have no index there.
    const ofNumbers = rows(`select t.name as "table", c.name as "column"
      from pragma_table_list t join pragma_table_info(t.name) c
      where t.name not like 'sqlite_%' and c.pk = 1 and lower(c.type) = 'integer'`).map(
      (row) => `${row['table']} (${row['column']}) unique`,
    )
    expect(indexes.sort()).toEqual([...ofIndexes, ...ofNumbers].sort())
    const ofReferences = rows(`select count(distinct t.name || '/' || f.id) as n
      from pragma_table_list t join pragma_foreign_key_list(t.name) f`)
    expect(Number(references[0].n)).toBe(Number(ofReferences[0]!['n']))
    expect(Number(references[0].n)).toBeGreaterThan(40)
  })

  test('migrations: of contacts that were not proved, those count as given that users were made with', async () => {
    const url = await server.create()
    await (await open(url)).close()
    const client = new pg.Client({ connectionString: url.reveal() })
    await client.connect()
    try {
      await client.query('alter table verified_contacts drop column proved')
      await client.query("delete from migrations where name = '0042-given-contacts'")
      const statements: string[] = []
      writeContactsOfBefore((sql) => statements.push(sql))
      for (const sql of statements) await client.query(sql)
      await (await open(url)).close()
      const { rows } = await client.query(
        'select user_id, type, contact, proved from verified_contacts order by user_id, type',
      )
      expect(rows.map((row) => Object.values(row).join(' '))).toEqual(CONTACTS_SINCE)
    } finally {
      await client.end()
    }
  })

  test('migrations: of secrets of before, those count as exported that an export which was carried out has named', async () => {
    const url = await server.create()
    await (await open(url)).close()
    const client = new pg.Client({ connectionString: url.reveal() })
    await client.connect()
    try {
      await client.query('alter table secrets drop column exported')
      await client.query("delete from migrations where name = '0043-exported-secrets'")
      const statements: string[] = []
      writeSecretsOfBefore((sql) => statements.push(sql), "'\\x01'")
      for (const sql of statements) await client.query(sql)
      await (await open(url)).close()
      const { rows } = await client.query('select id, exported from secrets order by id')
      expect(rows.map((row) => Object.values(row).join(' '))).toEqual(SECRETS_SINCE)
    } finally {
      await client.end()
    }
  })

  test('migrations: processes that start together wait for each other', async () => {
    const url = await server.create()
    const opened = await Promise.all([open(url), open(url), open(url)])
    await opened[0]!.write((tx) => insertSetting(tx, 'a', 'x'))
    expect(await opened[2]!.read((tx) => readSetting(tx, 'a'))).toBe('x')
    await Promise.all(opened.map((each) => each.close()))
  })

  test('processes: whoever has locked the organization reads what the others have written', () =>
    withTwo(async (one, two) => {
      const add = (database: Database, of: string) =>
        database.write(async (tx) => {
          await lockOrganization(tx, of)
          await count(tx, of)
        }, of)
      await Promise.all(Array.from({ length: 60 }, (_, n) => add(n % 2 ? one : two, n % 3 ? 'o' : 'p')))
      expect(await two.read(async (tx) => [await readSetting(tx, 'o'), await readSetting(tx, 'p')])).toEqual([
        '40',
        '20',
      ])
    }))

  test('processes: work that meets another’s is done again, and the others of its round with it', () =>
    withTwo(async (one, two) => {
      let tries = 0
      // Each has its first lock before one asks for the other's.
      const crossed = Promise.withResolvers<void>()
      let held = 0
      const cross = (database: Database, first: string, second: string) =>
        database.write(async (tx) => {
          tries += 1
          await lockOrganization(tx, first)
          held += 1
          if (held === 2) crossed.resolve()
          await crossed.promise
          await lockOrganization(tx, second)
          await count(tx, 'crossings')
        }, first)
      const beside = one.write((tx) => insertSetting(tx, 'beside', 'x'), 'o')
      await Promise.all([cross(one, 'o', 'p'), cross(two, 'p', 'o'), beside])
      expect(tries).toBeGreaterThan(2)
      expect(await one.read((tx) => readSetting(tx, 'crossings'))).toBe('2')
      // The same row from two sides at once: the second sees it when it is done again.
      const insertOnce = (database: Database) =>
        database.write(async (tx) => {
          if ((await readSetting(tx, 'once')) === undefined) {
            await delay(50)
            await insertSetting(tx, 'once', 'x')
          }
        })
      await Promise.all([insertOnce(one), insertOnce(two)])
      const always = [
        one.write((tx) => insertSetting(tx, 'once', 'y'), 'o'),
        one.write((tx) => insertSetting(tx, 'b', 'x'), 'o'),
      ]
      const results = await Promise.allSettled(always)
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    }))

  test('processes: a transaction that swallows its fault keeps nothing and is refused', () =>
    withTwo(async (one) => {
      const written = one.write(async (tx) => {
        await insertSetting(tx, 'a', 'x')
        await insertSetting(tx, 'a', 'x').catch(() => {})
      })
      await expect(written).rejects.toThrow()
      expect(await one.read((tx) => readSetting(tx, 'a'))).toBeUndefined()
    }))

  test('reads: one moment, whatever is written meanwhile, and nothing is written by them', () =>
    withTwo(async (one, two) => {
      const seen = await one.read(async (tx) => {
        const before = await readSetting(tx, 'a')
        await two.write((other) => insertSetting(other, 'a', 'x'))
        return [before, await readSetting(tx, 'a')]
      })
      expect(seen).toEqual([undefined, undefined])
      await expect(one.read((tx) => insertSetting(tx, 'b', 'x'))).rejects.toThrow()
    }))

  test('faults: a server that stops refuses what may be sent again, and the store is there when it is', async () => {
    const database = await open(await server.create())
    await database.write((tx) => insertSetting(tx, 'a', 'x'))
    const held = database.write(async (tx) => {
      await insertSetting(tx, 'b', 'x')
      await server.crash()
      await insertSetting(tx, 'c', 'x')
    })
    await expect(held).rejects.toThrow(StoreUnavailable)
    expect(database.lastRound()?.failed).toBe(true)
    expect(await database.read(async (tx) => [await readSetting(tx, 'a'), await readSetting(tx, 'b')])).toEqual([
      'x',
      undefined,
    ])
    await database.close()
    await expect(database.write((tx) => insertSetting(tx, 'd', 'x'))).rejects.toThrow(StoreUnavailable)
  })

  test('faults: the database of another application is refused, and nothing in it is changed', async () => {
    const url = await server.create()
    const client = new pg.Client({ connectionString: url.reveal() })
    await client.connect()
    try {
      await client.query('create table orders (id bigint); create table migrations (name text)')
      const tables = async () =>
        (await client.query('select relname from pg_class where relnamespace = current_schema()::regnamespace')).rows
      const before = await tables()
      const failure = await open(url).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(StoreUnavailable)
      expect(String(failure)).toContain('tables that are not this service’s: `migrations`, `orders`')
      expect(await tables()).toEqual(before)
    } finally {
      await client.end()
    }
  })

  test('faults: whatever keeps it from being opened is told without its password', async () => {
    const secret = server.url('nowhere')
    const failure = await open(secret).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreUnavailable)
    expect(String(failure)).toContain('no such database')
  })
})
