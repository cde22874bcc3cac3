import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '../../../src/service/store/migrations.ts'

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

/** The same database, ending at its n-th statement as a killed process would. */
function endingAt(database: DatabaseSync, last: number): DatabaseSync {
  let statements = 0
  return new Proxy(database, {
    get(target, name) {
      if (name !== 'exec') return Reflect.get(target, name, target).bind(target)
      return (sql: string) => {
        if (++statements > last) throw new Error('killed')
        target.exec(sql)
      }
    },
  })
}

describe('migrations', () => {
  test('migrations: ended at any statement, the next start makes the same schema as a fresh one', () => {
    const fresh = new DatabaseSync(':memory:')
    migrate(fresh, 1)
    const expected = schemaOf(fresh)
    let interrupted = 0
    for (let last = 0; ; last++) {
      const path = join(folder, `${last}.db`)
      const first = new DatabaseSync(path)
      let ended = false
      try {
        migrate(endingAt(first, last), 1)
      } catch {
        ended = true
      }
      first.close()
      const second = new DatabaseSync(path)
      migrate(second, 2)
      expect(schemaOf(second)).toEqual(expected)
      second.close()
      if (!ended) break
      interrupted++
    }
    console.log(`ended at=${interrupted} statements, other schemas=0`)
    expect(interrupted).toBeGreaterThan(30)
  })

  test('migrations: every change of a policy, and nothing else, gives the organization a new policy version', () => {
    const database = new DatabaseSync(':memory:', { enableForeignKeyConstraints: true })
    migrate(database, 1)
    database.exec("insert into organizations values ('o', null, 'o', 1, 0, 0, null), ('p', null, 'p', 1, 0, 0, null)")
    const version = () =>
      database.prepare("select version from policy_versions where organization_id = 'o'").get()?.['version']
    const steps = [
      "insert into policies values ('1', 'o', 'n', 'EFFECT_ALLOW', null, null, null, '', 0, 0)",
      "update policies set condition = 'true' where id = '1'",
      "delete from policies where id = '1'",
    ]
    const versions = new Set([version()])
    for (const step of steps) {
      database.exec(step)
      versions.add(version())
    }
    expect(versions.size).toBe(4)
    const before = version()
    database.exec("insert into policies values ('2', 'p', 'n', 'EFFECT_ALLOW', null, null, null, '', 0, 0)")
    database.exec("insert into users values ('u', 'o', 'u', null, null, 0, 0)")
    expect(version()).toBe(before)
  })
})
