import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeOutcomes } from '../../../src/service/engine/outcomes.ts'
import { renderNewDatabase } from '../../../src/service/store/generate.ts'
import { migrate } from '../../../src/service/store/migrations.ts'
import { STEPS_OF_NEW } from '../../../src/service/store/new-database.gen.ts'
import { CONTACTS_SINCE, writeContactsOfBefore } from './contacts-of-before.ts'
import { SECRETS_SINCE, writeSecretsOfBefore } from './secrets-of-before.ts'

const FIRST = '0001-start'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-migrations-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function schemaOf(database: DatabaseSync): string[] {
  return database
    .prepare('select sql from sqlite_master where sql is not null order by name')
    .all()
    .map((row) => String(row['sql']))
}

/** A process is ended here, not the machine: nothing need reach the disk. */
function openWithoutSync(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  database.exec('pragma synchronous = off')
  return database
}

/** The same database, which says each statement before it is carried out. */
function telling(database: DatabaseSync, tell: (sql: string) => void): DatabaseSync {
  return new Proxy(database, {
    get(target, name) {
      if (name !== 'exec') return Reflect.get(target, name, target).bind(target)
      return (sql: string) => {
        tell(sql)
        target.exec(sql)
      }
    },
  })
}

/** Brings a database to where a process was killed before the statement that begins so. */
function migrateUntil(database: DatabaseSync, beginning: string): void {
  migrate(database, 1, FIRST)
  const killed = telling(database, (sql) => {
    if (sql.startsWith(beginning)) throw new Error('killed')
  })
  expect(() => migrate(killed, 1)).toThrow('killed')
  database.exec('rollback')
}

describe('migrations', () => {
  test('migrations: what a new database takes is what they lead to, and each of them is marked as taken', () => {
    const committed = readFileSync(join(import.meta.dirname, '../../../src/service/store/new-database.gen.ts'), 'utf8')
    expect(renderNewDatabase(STEPS_OF_NEW) === committed, 'it differs: run npm run generate').toBe(true)
    const database = new DatabaseSync(':memory:')
    const taken = migrate(database, 1)
    expect(database.prepare('select name from migrations order by rowid').all()).toEqual(
      taken.map((name) => ({ name })),
    )
  })

  test.each([
    ['a new database', undefined],
    ['an old one', FIRST],
  ])('migrations: of %s, ended at any statement, the next start makes the same schema as a fresh one', (_, from) => {
    const fresh = new DatabaseSync(':memory:')
    migrate(fresh, 1)
    const expected = schemaOf(fresh)
    const path = join(folder, `ended-${from}.db`)
    const first = openWithoutSync(path)
    if (from !== undefined) migrate(first, 1, from)
    // What is on the disk before each statement is all that a killed process leaves: what it has not committed is in its memory.
    const left = new Map<string, Uint8Array>()
    let statements = 0
    const look = () => {
      const bytes = readFileSync(path)
      left.set(hash('sha256', bytes), bytes)
    }
    const looking = telling(first, () => {
      statements++
      look()
    })
    migrate(looking, 1)
    look()
    first.close()
    for (const bytes of left.values()) {
      const again = join(folder, 'again.db')
      writeFileSync(again, bytes)
      const second = openWithoutSync(again)
      migrate(second, 2)
      expect(schemaOf(second)).toEqual(expected)
      second.close()
    }
    console.log(`ended at=${statements} statements, which leave ${left.size} databases, other schemas=0`)
    expect(statements).toBeGreaterThan(30)
    const { steps } = fresh.prepare('select count(*) steps from migrations').get() as { steps: number }
    // Nothing, the table of steps, and all of them; of an old one, each step by itself.
    expect(left.size).toBe(from === undefined ? 3 : steps)
  })

  test('migrations: what policies made of votes is kept in its order when denied votes come to it', () => {
    const path = join(folder, 'denied-votes.db')
    const before = new DatabaseSync(path, { enableForeignKeyConstraints: true })
    migrateUntil(before, 'alter table policy_evaluations rename')
    before.exec("insert into organizations values ('o', null, 'o', 1, 0, 0, null)")
    before.exec("insert into activities values ('a', 'o', 't', 's', 'f', '{}', null, null, 1, '0', 0, 0, 0, 0)")
    for (const [n, id] of ['v2', 'v1'].entries()) {
      before.exec(`insert into votes values ('${id}', 'o', 'a', 'u', 'c', '{}', 's', 'm', 'k', 's', 's', ${n + 1}, 0)`)
      before.exec(`insert into policy_evaluations values ('e-${id}', 'o', 'a', '${id}', '[]', 7)`)
    }
    before.close()
    const after = new DatabaseSync(path, { enableForeignKeyConstraints: true })
    migrate(after, 2)
    expect(after.prepare('select * from policy_evaluations order by position').all()).toMatchObject([
      {
        position: 1,
        id: 'e-v2',
        organization_id: 'o',
        activity_id: 'a',
        vote_id: 'v2',
        policy_version: null,
        outcomes: '',
        created_at: 7,
      },
      { position: 2, id: 'e-v1', vote_id: 'v1' },
    ])
    after.close()
  })

  test('migrations: a send that was accepted before knows its activity', () => {
    const path = join(folder, 'sends.db')
    const before = new DatabaseSync(path)
    migrateUntil(before, 'alter table sends add column activity_id')
    before.exec("insert into organizations values ('o', null, 'o', 1, 0, 0, null)")
    const result = JSON.stringify({ sendTransactionStatusId: 's' })
    before.exec(`insert into activities values ('a', 'o', 't', 's', 'f', '{}', '${result}', null, 1, '0', 0, 0, 0, 0)`)
    const columns = 'id, organization_id, caip2, sender, request, status, position, created_at, updated_at'
    before.exec(`insert into sends (${columns}) values ('s', 'o', 'c', 'from', '{}', 'INCLUDED', 1, 0, 0)`)
    before.close()
    const after = new DatabaseSync(path)
    migrate(after, 2)
    expect(after.prepare('select id, activity_id from sends').all()).toMatchObject([{ id: 's', activity_id: 'a' }])
    after.close()
  })

  test('migrations: what policies made of votes reads the same when their ids are kept once for all votes', () => {
    const path = join(folder, 'policy-sets.db')
    const before = new DatabaseSync(path, { enableForeignKeyConstraints: true })
    migrateUntil(before, 'create table policy_sets')
    const judged = [
      [],
      ['x ALLOW', 'y DENY_EXPLICIT', 'z DENY_IMPLICIT', 'w REQUIRES_CONSENSUS'],
      ['x TIME_INACTIVE', 'y ERROR', 'z REJECTED', 'w REQUIRES_AUTHENTICATORS'],
      ['y ALLOW'],
    ].map((policies) =>
      policies.map((text) => {
        const [policyId, outcome] = text.split(' ')
        return { policyId, outcome: `OUTCOME_${outcome}` }
      }),
    )
    for (const organization of ['o', 'p']) {
      before.exec(`insert into organizations values ('${organization}', null, 'o', 1, 0, 0, null)`)
      const columns = `'${organization}', 't', 's', 'f', '{}', null, null, 1, '0', 0, 0, 0, 0`
      before.exec(`insert into activities values ('a-${organization}', ${columns})`)
      for (const [n, policies] of judged.entries())
        before
          .prepare('insert into policy_evaluations values (null, ?, ?, ?, ?, ?, 7)')
          .run(`${organization}${n}`, organization, `a-${organization}`, `v${n}`, JSON.stringify(policies))
    }
    migrate(before, 2)
    const told = before
      .prepare(
        `select e.id, e.outcomes, s.policy_ids from policy_evaluations e left join policy_sets s
           on s.organization_id = e.organization_id and s.version = e.policy_version order by e.position`,
      )
      .all() as unknown as { id: string; outcomes: string; policy_ids: string | null }[]
    expect(told.map((row) => [row.id, decodeOutcomes(row)])).toEqual(
      ['o', 'p'].flatMap((organization) => judged.map((policies, n) => [`${organization}${n}`, policies])),
    )
    expect(before.prepare('select count(*) as count from policy_sets').get()).toEqual({ count: 4 })
    before.close()
  })

  test('migrations: lists keep their order when it becomes a column, and what refers to a send stays', () => {
    const path = join(folder, 'positions.db')
    const before = new DatabaseSync(path, { enableForeignKeyConstraints: true })
    migrateUntil(before, 'alter table users add column position')
    before.exec("insert into organizations values ('o', null, 'o', 1, 0, 0, null), ('p', 'o', 'p', 1, 0, 0, null)")
    for (const id of ['c', 'a', 'b']) before.exec(`insert into users values ('${id}', 'o', '${id}', null, null, 0, 0)`)
    const columns = 'id, organization_id, caip2, sender, request, status, position, created_at, updated_at, account'
    for (const [n, id] of ['s2', 's1'].entries()) {
      before.exec(
        `insert into sends (${columns}) values ('${id}', 'o', 'c', 'from', '{}', 'FAILED', ${n + 7}, 0, 0, 'x')`,
      )
      before.exec(`insert into send_attempts values ('${id}', 'o', 1, 'h-${id}', 't', 0, null)`)
      before.exec(`insert into gas_usages values ('${id}', 'o', 'o', 5, 0)`)
    }
    before.close()
    const after = new DatabaseSync(path, { enableForeignKeyConstraints: true })
    migrate(after, 2)
    const read = (query: string) =>
      after
        .prepare(query)
        .all()
        .map((row) => Object.values(row).join(' '))
    expect(read('select id from users order by position')).toEqual(['c', 'a', 'b'])
    expect(read('select id, position, account from sends order by position')).toEqual(['s2 7 x', 's1 8 x'])
    expect(read('select send_id, hash from send_attempts order by send_id')).toEqual(['s1 h-s1', 's2 h-s2'])
    expect(read('select send_id, micro_usd from gas_usages order by send_id')).toEqual(['s1 5', 's2 5'])
    expect(read('pragma foreign_key_check')).toEqual([])
    expect(() => after.exec("insert into send_attempts values ('none', 'o', 1, 'h', 't', 0, null)")).toThrow(
      /FOREIGN KEY/,
    )
    after.exec(
      "insert into sends (id, organization_id, caip2, sender, request, status, created_at, updated_at) values ('s3', 'o', 'c', 'f', '{}', 'FAILED', 0, 0)",
    )
    expect(read("select position from sends where id = 's3'")).toEqual(['9'])
    after.close()
  })

  test('migrations: of contacts that were not proved, those count as given that users of sub-organizations were made with', () => {
    const path = join(folder, 'given-contacts.db')
    const before = new DatabaseSync(path)
    migrateUntil(before, 'alter table verified_contacts add column proved')
    writeContactsOfBefore((sql) => before.exec(sql))
    migrate(before, 2)
    const rows = before
      .prepare('select user_id, type, contact, proved from verified_contacts order by user_id, type')
      .all()
    expect(rows.map((row) => Object.values(row).join(' '))).toEqual(CONTACTS_SINCE)
    before.close()
  })

  test('migrations: of secrets of before, those count as exported that an export which was carried out has named', () => {
    const before = new DatabaseSync(':memory:')
    migrateUntil(before, 'alter table secrets add column exported')
    writeSecretsOfBefore((sql) => before.exec(sql), "x'01'")
    migrate(before, 2)
    const rows = before.prepare('select id, exported from secrets order by id').all()
    expect(rows.map((row) => Object.values(row).join(' '))).toEqual(SECRETS_SINCE)
    before.close()
  })
})
