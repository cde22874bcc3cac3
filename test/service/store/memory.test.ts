/** That reads which are remembered are what is there: whatever is written, undone, cascades, or comes from elsewhere. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deletePolicies, insertPolicy } from '../../../src/service/resources/policies/store.ts'
import { insertInOrder, openDatabase, type Transaction, withSavepoint } from '../../../src/service/store/index.ts'
import { remember } from '../../../src/service/store/prepared.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-memory-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
function open() {
  const path = join(folder, `${files++}.db`)
  const database = openDatabase(path, { now: 0 })
  const other = new DatabaseSync(path, { enableForeignKeyConstraints: true })
  other.exec("insert into organizations values ('o', null, 'o', 1, 0, 0, null, 1), ('p', null, 'p', 1, 0, 0, null, 2)")
  return { database, other, close: () => database.close().finally(() => other.close()) }
}

const queries = {
  bearers: (tx: Transaction, of: { organization: string }) =>
    tx
      .selectFrom('users')
      .leftJoin('tag_members', 'tag_members.member_id', 'users.id')
      .select(['users.id', 'users.name', 'tag_members.tag_id'])
      .where('users.organization_id', '=', of.organization)
      .orderBy('users.id')
      .orderBy('tag_members.tag_id'),
  keys: (tx: Transaction, of: { organization: string }) =>
    tx.selectFrom('api_keys').selectAll().where('organization_id', '=', of.organization).orderBy('id'),
  version: (tx: Transaction, of: { organization: string }) =>
    tx.selectFrom('policy_versions').select('version').where('organization_id', '=', of.organization),
}
const remembered = {
  bearers: remember(queries.bearers),
  keys: remember(queries.keys),
  version: remember(queries.version),
}

/** What is remembered, held against what a query says that is not; once more with the same values, and with others. */
async function compare(tx: Transaction): Promise<void> {
  for (const organization of ['o', 'o', 'p', 'p', 'o'])
    for (const name of ['bearers', 'keys', 'version'] as const) {
      const told = await remembered[name](tx, { organization })
      expect(told).toEqual(await queries[name](tx, { organization }).execute())
    }
}

const times = { created_at: 0, updated_at: 0 }
const tag = { name: 't', type: 'TAG_TYPE_USER', ...times }
const key = { name: 'k', credential_type: 'c', expiration_seconds: null, ...times }
const policy = { effect: 'EFFECT_ALLOW', consensus: null, condition: null, time: null, notes: '', ...times }

/** Each writes something about the n-th thing of an organization; what cannot be done does nothing. */
const writes: readonly ((tx: Transaction, o: string, n: string) => Promise<unknown>)[] = [
  (tx, o, n) =>
    insertInOrder(tx, 'users', [{ id: n, organization_id: o, name: n, email: null, phone_number: null, ...times }]),
  (tx, o, n) =>
    tx
      .updateTable('users')
      .set({ name: `${n} again` })
      .where('organization_id', '=', o)
      .where('id', '=', n)
      .execute(),
  (tx, o, n) => insertInOrder(tx, 'api_keys', [{ id: n, organization_id: o, user_id: n, public_key: n, ...key }]),
  (tx, o, n) => insertInOrder(tx, 'tags', [{ id: n, organization_id: o, ...tag }]),
  (tx, o, n) => tx.insertInto('tag_members').values({ organization_id: o, tag_id: n, member_id: n }).execute(),
  (tx, o, n) => insertPolicy(tx, { id: n, organization_id: o, name: n, ...policy }, randomUUID()),
  // Their keys and memberships go with them.
  (tx, _, n) => tx.deleteFrom('users').where('id', '=', n).execute(),
  (tx, _, n) => tx.deleteFrom('tags').where('id', '=', n).execute(),
  (tx, o, n) => deletePolicies(tx, o, [n], randomUUID()),
]

describe('remembered reads', () => {
  test('remembered reads: a second look at what nobody wrote is the first one’s answer, and cannot be changed', async () => {
    const { database, close } = open()
    const [first, second] = await database.write(async (tx) => {
      await writes[0]!(tx, 'o', 'a')
      const first = await remembered.bearers(tx, { organization: 'o' })
      await writes[3]!(tx, 'o', 'a')
      return [first, await remembered.bearers(tx, { organization: 'o' })]
    })
    expect(second).toBe(first)
    expect(() => Object.assign(first![0]!, { name: 'b' })).toThrow(TypeError)
    expect(await database.write(async (tx) => remembered.bearers(tx, { organization: 'p' }))).toEqual([])
    await close()
  })

  test('remembered reads: they do not grow without end', async () => {
    const { database, close } = open()
    await database.read(async (tx) => {
      const first = await remembered.keys(tx, { organization: 'o' })
      for (let n = 0; n < 15_000; n++) await remembered.keys(tx, { organization: `nobody ${n}` })
      expect(await remembered.keys(tx, { organization: 'o' })).toBe(first)
      for (let n = 0; n < 6_000; n++) await remembered.keys(tx, { organization: `nobody else ${n}` })
      expect(await remembered.keys(tx, { organization: 'o' })).not.toBe(first)
    })
    await close()
  })

  test('remembered reads: whatever is written, cascades or is undone, they say what is there', async () => {
    const { database, close } = open()
    const seldom = fc.nat(7).map((n) => n === 0)
    const step = fc.record({
      write: fc.nat(writes.length - 1),
      organization: fc.constantFrom('o', 'p'),
      thing: fc.constantFrom('a', 'b'),
      isUndone: seldom,
      endsRound: seldom,
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 4 }), async (rounds) => {
        for (const steps of rounds) {
          await database
            .write(async (tx) => {
              for (const { write, organization, thing, isUndone, endsRound } of steps) {
                await withSavepoint(tx, async () => {
                  await writes[write]!(tx, organization, thing)
                  await compare(tx)
                  if (isUndone) throw new Error('undone')
                }).catch((error: Error) => expect(error.message).toMatch(/^undone$|constraint/i))
                await compare(tx)
                if (endsRound) throw new Error('round')
              }
            })
            .catch((error: Error) => expect(error.message).toBe('round'))
          await database.read(compare)
          await database.write(compare)
        }
      }),
      { numRuns: 60 },
    )
    await close()
  })

  test('remembered reads: what another connection wrote is seen by the next transaction, and by none before', async () => {
    const { database, other, close } = open()
    const named = async (tx: Transaction) =>
      (await remembered.bearers(tx, { organization: 'o' })).map(({ name }) => name)
    await database.write((tx) => writes[0]!(tx, 'o', 'a'))
    expect([await database.read(named), await database.write(named)]).toEqual([['a'], ['a']])
    other.exec("update users set name = 'other'")
    expect([await database.read(named), await database.write(named)]).toEqual([['other'], ['other']])
    await database.read(async (tx) => {
      const keys = await remembered.keys(tx, { organization: 'o' })
      other.exec("update users set name = 'third'")
      expect([await named(tx), keys]).toEqual([['other'], []])
    })
    expect(await database.read(named)).toEqual(['third'])
    await close()
  })
})
