/**
 * What a transaction of PostgreSQL remembers, beside other processes that write: two handles on one database stand for two
 * processes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listUsers, updateUser } from '../../../src/service/resources/users/store.ts'
import {
  type Database,
  insertFirstOrganization,
  lockOrganization,
  openPostgres,
  type Transaction,
  withSavepoint,
} from '../../../src/service/store/index.ts'
import { findPostgres, startPostgres, type TestPostgres } from '../../postgres.ts'

let server: TestPostgres

/** Two processes on one database, with an organization whose user has the name of a number. */
async function withTwo(work: (one: Database, two: Database) => Promise<void>): Promise<void> {
  const url = await server.create()
  const open = () => openPostgres({ url, connections: 4 }, { now: 1 })
  const [one, two] = await Promise.all([open(), open()])
  const organization = {
    id: 'o',
    name: 'o',
    user: { id: 'u', name: '0' },
    apiKey: { id: 'k', name: 'k', publicKey: 'p' },
  }
  try {
    await one.write((tx) => insertFirstOrganization(tx, organization, 1))
    await work(one, two)
  } finally {
    await Promise.all([one.close(), two.close()])
  }
}

const users = async (tx: Transaction) => listUsers(tx, 'o', ['u'])
const nameOf = async (tx: Transaction) => (await users(tx))[0]?.name
const rename = async (tx: Transaction, name: string) => updateUser(tx, 'o', 'u', { name, now: 2 })

describe.skipIf(findPostgres() === undefined)('remembered reads on PostgreSQL', () => {
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  test('remembered reads on PostgreSQL: under the lock the second is the answer of the first, and what this transaction writes is seen', () =>
    withTwo(async (one) => {
      await one.write(async (tx) => {
        expect(await users(tx)).not.toBe(await users(tx))
        await lockOrganization(tx, 'o')
        const first = await users(tx)
        expect(await users(tx)).toBe(first)
        expect(() => Object.assign(first[0]!, { name: 'other' })).toThrow(TypeError)
        await rename(tx, 'prepared')
        expect(await nameOf(tx)).toBe('prepared')
        await tx.updateTable('users').set({ name: 'built' }).where('id', '=', 'u').execute()
        expect(await nameOf(tx)).toBe('built')
      })
      // Nothing of one transaction is remembered by the next.
      expect(await one.write(nameOf)).toBe('built')
    }))

  test('remembered reads on PostgreSQL: after a lock that was waited for, they are what the other process committed', () =>
    withTwo(async (one, two) => {
      const [taken, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const writing = one.write(async (tx) => {
        await lockOrganization(tx, 'o')
        taken.resolve()
        await written.promise
        await rename(tx, 'of the other')
      })
      await taken.promise
      const told = await two.write(async (tx) => {
        const before = await nameOf(tx)
        const locking = lockOrganization(tx, 'o')
        written.resolve()
        await locking
        return [before, await nameOf(tx), await nameOf(tx)]
      })
      await writing
      expect(told).toEqual(['0', 'of the other', 'of the other'])
    }))

  test('remembered reads on PostgreSQL: what is undone is not remembered, and its lock is not relied on', () =>
    withTwo(async (one, two) => {
      let other: Promise<void> | undefined
      await one.write(async (tx) => {
        await withSavepoint(tx, async () => {
          await lockOrganization(tx, 'o')
          await rename(tx, 'undone')
          expect(await nameOf(tx)).toBe('undone')
          throw new Error('undone')
        }).catch((error: Error) => expect(error.message).toBe('undone'))
        expect(await nameOf(tx)).toBe('0')
        // The row was taken behind the savepoint: another process gets it, and commits.
        other = two.write(async (own) => {
          await lockOrganization(own, 'o')
          await rename(own, 'of the other')
        })
        await other
        expect(await nameOf(tx)).toBe('of the other')
        await lockOrganization(tx, 'o')
        expect(await nameOf(tx)).toBe('of the other')
      })
    }))

  test('remembered reads on PostgreSQL: with many writers in two processes none counts on from a former value', () =>
    withTwo(async (one, two) => {
      const countUp = (tx: Transaction) =>
        withSavepoint(tx, async () => {
          await lockOrganization(tx, 'o')
          const before = Number(await nameOf(tx))
          expect(Number(await nameOf(tx))).toBe(before)
          await rename(tx, String(before + 1))
          expect(Number(await nameOf(tx))).toBe(before + 1)
          if (before % 7 === 0) throw new Error('undone')
          return 1
        }).catch((error: Error) => {
          expect(error.message).toBe('undone')
          return withSavepoint(tx, async () => {
            await lockOrganization(tx, 'o')
            await rename(tx, String(Number(await nameOf(tx)) + 1))
            return 1
          })
        })
      const writes = Array.from({ length: 120 }, (_, n) => (n % 2 === 0 ? one : two).write(countUp, 'o'))
      await Promise.all(writes)
      expect(await two.write(nameOf)).toBe('120')
    }))
})
