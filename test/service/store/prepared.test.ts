import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../../src/service/store/index.ts'
import { prepare } from '../../../src/service/store/prepared.ts'

let folder: string
let database: Database
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-prepared-'))
  database = openDatabase(join(folder, 'a.db'), { now: 0 })
})
afterAll(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

describe('prepared queries', () => {
  let built = 0
  const insert = prepare((tx, row: { name: string; value: string }) => {
    built++
    return tx.insertInto('settings').values(row)
  })
  const among = prepare((tx, of: { names: readonly string[] }) => {
    built++
    return tx.selectFrom('settings').selectAll().where('name', 'in', of.names).orderBy('name')
  })
  const update = prepare((tx, { name, ...columns }: { name: string; value?: string }) => {
    built++
    return tx
      .updateTable('settings')
      .set({ name, ...columns })
      .where('name', '=', name)
  })

  test('prepared queries: each shape of the values is built once, and every run has its own values', async () => {
    await database.write(async (tx) => {
      for (const name of ['a', 'b', 'c']) await insert(tx, { name, value: name.toUpperCase() })
      expect(built).toBe(1)
      expect(await among(tx, { names: ['a', 'c'] })).toEqual([
        { name: 'a', value: 'A' },
        { name: 'c', value: 'C' },
      ])
      expect(await among(tx, { names: ['b', 'c'] })).toMatchObject([{ name: 'b' }, { name: 'c' }])
      expect(built).toBe(2)
      expect(await among(tx, { names: ['b'] })).toMatchObject([{ name: 'b' }])
      await update(tx, { name: 'b', value: 'new' })
      await update(tx, { name: 'a' })
      expect(built).toBe(5)
      expect(await among(tx, { names: ['a', 'b', 'c'] })).toMatchObject([
        { value: 'A' },
        { value: 'new' },
        { value: 'C' },
      ])
    })
  })

  test('prepared queries: another database has texts of its own', async () => {
    const other = openDatabase(join(folder, 'b.db'), { now: 0 })
    const before = built
    const rows = await other.read(async (tx) => among(tx, { names: ['a', 'b'] }))
    await other.close()
    expect(rows).toEqual([])
    expect(built).toBe(before + 1)
  })
})
