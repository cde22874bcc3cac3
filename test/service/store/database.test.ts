import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type Database,
  insertSetting,
  openDatabase,
  readSetting,
  StoreUnavailable,
  type Transaction,
  withSavepoint,
} from '../../../src/service/store/index.ts'
import { createSmallDisk } from '../small-disk.ts'

const opened: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0)) await close()
})

function open(): { database: Database; path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-store-'))
  const path = join(folder, 'quorate.db')
  const database = openDatabase(path, { now: 1 })
  opened.push(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })
  return { database, path }
}

/** What is committed, as another process would see it. */
function committed(path: string): string[] {
  const other = new DatabaseSync(path, { readOnly: true })
  const rows = other.prepare('select name from settings order by name').all()
  other.close()
  return rows.map((row) => String(row['name']))
}

const put = (name: string) => (tx: Transaction) => insertSetting(tx, name, 'x')

describe('database', () => {
  test('database: work that throws leaves nothing, and the rest of its round stays', async () => {
    const { database, path } = open()
    const results = await Promise.allSettled([
      database.write(put('a')),
      database.write(async (tx) => {
        await put('b')(tx)
        throw new Error('no')
      }),
      database.write(put('c')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(committed(path)).toEqual(['a', 'c'])
  })

  test('database: nobody of a round is answered before its commit, refused ones neither', async () => {
    const { database, path } = open()
    const seen: string[][] = []
    const note = () => void seen.push(committed(path))
    await Promise.all([
      database
        .write(async () => {
          throw new Error('no')
        })
        .catch(note),
      database.write(put('late')).then(note),
    ])
    expect(seen).toEqual([['late'], ['late']])
  })

  test('database: work of one round sees what earlier work of it wrote', async () => {
    const { database } = open()
    const [, seen] = await Promise.all([database.write(put('a')), database.write((tx) => readSetting(tx, 'a'))])
    expect(seen).toBe('x')
  })

  test('database: concurrent writes share rounds and no write is lost', async () => {
    const { database, path } = open()
    const names = Array.from({ length: 300 }, (_, i) => `n${String(i).padStart(3, '0')}`)
    await Promise.all(names.map((name) => database.write(put(name))))
    expect(committed(path)).toEqual(names)
  })

  test('database: writes that come turn after turn share a round, which ends with a turn that brings none', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quorate-store-'))
    const sizes: number[] = []
    const onRound = ({ writes }: { readonly writes: number }) => void sizes.push(writes)
    const database = openDatabase(join(folder, 'quorate.db'), { now: 1, onRound })
    opened.push(() => database.close().then(() => rmSync(folder, { recursive: true })))
    const written: Promise<void>[] = []
    // Each in its turn before the round looks who waits.
    const turns = ['b', 'c'].reduceRight<() => void>(
      (next, name) => () =>
        setImmediate(() => {
          written.push(database.write(put(name)))
          next()
        }),
      () => {},
    )
    turns()
    await database.write(put('a'))
    await Promise.all(written)
    expect(sizes).toEqual([3])
  })

  test('database: a read sees one moment and cannot write', async () => {
    const { database } = open()
    await database.read(async (tx) => {
      expect(await readSetting(tx, 'a')).toBeUndefined()
      await database.write(put('a'))
      expect(await readSetting(tx, 'a')).toBeUndefined()
    })
    expect(await database.read((tx) => readSetting(tx, 'a'))).toBe('x')
    await expect(database.read(put('b'))).rejects.toThrow(StoreUnavailable)
  })

  test('database: closing waits for what has begun and refuses what comes after', async () => {
    const { database, path } = open()
    const begun = database.write(put('a'))
    const closing = database.close()
    await expect(database.write(put('b'))).rejects.toThrow(StoreUnavailable)
    await begun
    await closing
    expect(committed(path)).toEqual(['a'])
    opened.splice(0)
  })

  test('database: opening it again changes nothing', async () => {
    const { database, path } = open()
    await database.write(put('a'))
    const again = openDatabase(path, { now: 2 })
    expect(await again.read((tx) => readSetting(tx, 'a'))).toBe('x')
    await again.close()
  })

  test('database: savepoints nest, whatever fails inside them', async () => {
    const { database, path } = open()
    // A tree of writes: each node writes its name before its children, after them or never, and fails or not.
    type Node = { name: string; fails: boolean; writes: 'before' | 'after' | 'never'; children: Node[] }
    let count = 0
    const node: fc.Memo<Node> = fc.memo((depth) =>
      fc.record({
        name: fc.constant(''),
        fails: fc.boolean(),
        writes: fc.constantFrom('before' as const, 'after' as const, 'never' as const),
        children: depth > 1 ? fc.array(node(depth - 1), { maxLength: 3 }) : fc.constant([]),
      }),
    )
    const label = (tree: Node): Node => ({ ...tree, name: `t${count++}`, children: tree.children.map(label) })
    const kept = ({ name, fails, writes, children }: Node): string[] =>
      fails ? [] : [...(writes === 'never' ? [] : [name]), ...children.flatMap(kept)]
    const run = async (tx: Transaction, tree: Node): Promise<void> => {
      await withSavepoint(tx, async () => {
        if (tree.writes === 'before') await put(tree.name)(tx)
        for (const child of tree.children) await run(tx, child)
        if (tree.writes === 'after') await put(tree.name)(tx)
        if (tree.fails) throw new Error(tree.name)
      }).catch(() => {})
    }
    const expected: string[] = []
    await fc.assert(
      fc.asyncProperty(node(4), async (shape) => {
        const tree = label(shape)
        await database.write((tx) => run(tx, tree))
        expected.push(...kept(tree))
      }),
      { numRuns: 100 },
    )
    expect(committed(path)).toEqual(expected.sort())
  })
})

describe.skipIf(process.getuid?.() !== 0)('database: full disk (needs root for a small tmpfs)', () => {
  const big = 'x'.repeat(20_000)
  const write = (database: Database, name: string) =>
    database.write(async (tx) => {
      await insertSetting(tx, `${name}-first`, big)
      await insertSetting(tx, `${name}-second`, big)
    })

  test('database: a full disk refuses writes whole, reads go on, and room brings writes back', async () => {
    const disk = createSmallDisk('2m')
    const path = join(disk.folder, 'quorate.db')
    const database = openDatabase(path, { now: 1 })
    try {
      const acknowledged: string[] = []
      let refused = 0
      for (let i = 0; i < 60; i++) {
        const name = `n${String(i).padStart(2, '0')}`
        await write(database, name).then(
          () => acknowledged.push(name),
          (error: unknown) => {
            expect(error).toBeInstanceOf(StoreUnavailable)
            refused++
          },
        )
      }
      expect(refused).toBeGreaterThan(0)
      expect(acknowledged.length).toBeGreaterThan(0)
      expect(await database.read((tx) => readSetting(tx, `${acknowledged[0]}-first`))).toBe(big)
      disk.grow()
      await write(database, 'after')
      const both = [...acknowledged, 'after'].flatMap((name) => [`${name}-first`, `${name}-second`])
      expect(committed(path)).toEqual(both.sort())
      const checked = new DatabaseSync(path)
      expect({ ...checked.prepare('pragma integrity_check').get() }).toEqual({ integrity_check: 'ok' })
      checked.close()
      console.log(`acknowledged=${acknowledged.length} refused=${refused} lost=0`)
    } finally {
      await database.close()
      disk.remove()
    }
  })

  test('database: work that swallows the fault of a full disk is refused all the same, and nothing of its round stays', async () => {
    const disk = createSmallDisk('2m')
    const path = join(disk.folder, 'quorate.db')
    const database = openDatabase(path, { now: 1 })
    try {
      const swallowing = async (tx: Transaction) => {
        // More than SQLite's page cache holds, so that the disk is met before the commit.
        for (let i = 0; i < 400; i++) await insertSetting(tx, `swallowed-${i}`, big).catch(() => {})
      }
      const results = await Promise.allSettled([
        database.write(put('before')),
        database.write(swallowing),
        database.write(put('behind')),
      ])
      for (const result of results) expect(result).toMatchObject({ reason: expect.any(StoreUnavailable) })
      expect(committed(path)).toEqual([])
      disk.grow()
      await database.write(put('after'))
      expect(committed(path)).toEqual(['after'])
    } finally {
      await database.close()
      disk.remove()
    }
  })
})
