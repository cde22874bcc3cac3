/**
 * What a store must do, whatever database is behind it: the service is judged by nothing else of it. A second store passes the
 * same tests.
 */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { insertOrganization } from '../../../src/service/resources/organizations/store.ts'
import {
  deletePolicies,
  insertPolicy,
  policyTable,
  updatePolicy,
} from '../../../src/service/resources/policies/store.ts'
import { insertSend, listOpenSends } from '../../../src/service/resources/sends/store.ts'
import { listSubOrganizationIds } from '../../../src/service/resources/sub-organizations/store.ts'
import { insertTag, listTags, updateTag } from '../../../src/service/resources/tags/store.ts'
import { deleteUsers, insertUser, listUsers } from '../../../src/service/resources/users/store.ts'
import {
  type Database,
  insertActivity,
  insertFirstOrganization,
  insertInOrder,
  insertPolicyEvaluation,
  insertSetting,
  insertVote,
  listPolicyEvaluations,
  lockOrganization,
  readPolicyVersion,
  readSetting,
  type Transaction,
  withSavepoint,
} from '../../../src/service/store/index.ts'

const MADE = { created_at: 5, updated_at: 5 }
const policyOf = (o: string, name: string) => ({
  ...{ id: randomUUID(), organization_id: o, name, effect: 'EFFECT_ALLOW', notes: '' },
  ...{ consensus: null, condition: null, time: null, ...MADE },
})
const userOf = (o: string, name: string) => ({
  ...{ id: randomUUID(), organization_id: o, name, email: null, phone_number: null, ...MADE },
})

/** Two parents of one installation, with a user each. */
async function addParents(database: Database): Promise<readonly [string, string]> {
  const ids = [randomUUID(), randomUUID()] as const
  for (const id of ids) {
    const apiKey = { id: randomUUID(), name: 'k', publicKey: id }
    const first = { id, name: 'o', user: { id: randomUUID(), name: 'first' }, apiKey }
    await database.write((tx) => insertFirstOrganization(tx, first, 5))
  }
  return ids
}

/** The contract of a store; `open` gives an empty one, which the suite closes. */
export function storeContract(name: string, open: () => Promise<Database>): void {
  async function withStore(work: (database: Database, parents: readonly [string, string]) => Promise<void>) {
    const database = await open()
    try {
      await work(database, await addParents(database))
    } finally {
      await database.close()
    }
  }

  describe(`store contract, ${name}`, () => {
    test('truth: whether a row is there is told as 1 or 0', () =>
      withStore(async (database, [o]) => {
        const isThere = (id: string) =>
          database.read((tx) =>
            tx
              .selectFrom('organizations')
              .select(({ exists, selectFrom }) =>
                exists(selectFrom('users').select('id').where('id', '=', id)).as('is'),
              )
              .where('id', '=', o)
              .executeTakeFirst(),
          )
        const [user] = await database.read((tx) => listUsers(tx, o))
        expect([await isThere(user!.id), await isThere('nobody')]).toEqual([{ is: 1 }, { is: 0 }])
      }))

    test('order: lists are in the order of creation when no time tells it, also after deletions, each organization its own', () =>
      withStore(async (database, [o, p]) => {
        const names = ['z', 'a', 'm', 'b']
        await database.write(async (tx) => {
          for (const each of names) {
            await insertUser(tx, userOf(o, each))
            await insertUser(tx, userOf(p, `p-${each}`))
          }
        })
        const list = async (of: string) => (await database.read((tx) => listUsers(tx, of))).map((user) => user.name)
        expect(await list(o)).toEqual(['first', ...names])
        expect(await list(p)).toEqual(['first', ...names.map((each) => `p-${each}`)])
        await database.write(async (tx) => {
          const gone = (await listUsers(tx, o)).filter((user) => user.name === 'a' || user.name === 'b')
          await deleteUsers(
            tx,
            o,
            gone.map(({ id }) => id),
          )
          await insertInOrder(tx, 'users', [userOf(o, 'y'), userOf(o, 'c')])
        })
        expect(await list(o)).toEqual(['first', 'z', 'm', 'y', 'c'])
      }))

    test('evaluations: those of the last votes that an answer has room for, in their order, and at least one', () =>
      withStore(async (database, [o]) => {
        const of = {
          organization_id: o,
          activity_id: randomUUID(),
          policy_version: null,
          behind_vote: 0,
          created_at: 5,
        }
        const outcomes = ['a'.repeat(1_000), 'a'.repeat(10), 'a'.repeat(10), 'a'.repeat(10)]
        await database.write(async (tx) => {
          await insertActivity(tx, {
            ...{ id: of.activity_id, organization_id: o, type: 't', status: 's', fingerprint: 'f', intent: '{}' },
            ...{
              answers: null,
              result: null,
              failure: null,
              timestamp_ms: '5',
              generate_app_proofs: 0,
              window_opened_at: 5,
              ...MADE,
            },
          })
          for (const [at, each] of outcomes.entries()) {
            await insertPolicyEvaluation(tx, { ...of, id: String(at), vote_id: String(at), outcomes: each })
          }
        })
        const listed = (mostBytes: number) =>
          database.read(async (tx) => {
            const rows = await listPolicyEvaluations(tx, o, of.activity_id, { mostBytes })
            return rows.map(({ id }) => id)
          })
        expect(await listed(1_000_000)).toEqual(['0', '1', '2', '3'])
        expect(await listed(50_000)).toEqual(['1', '2', '3'])
        expect(await listed(3_000)).toEqual(['2', '3'])
        expect(await listed(1)).toEqual(['3'])
      }))

    test('evaluations: those of votes and of denied ones are in the order in which they came, before and since votes have theirs', () =>
      withStore(async (database, [o]) => {
        const activity_id = randomUUID()
        const of = { organization_id: o, activity_id, policy_version: null, created_at: 5 }
        const vote = (position: number, evaluation_id: string | null) => ({
          ...{
            ...of,
            id: `v${position}`,
            user_id: 'u',
            credential_id: 'c',
            credential: '{}',
            selection: 's',
            message: 'm',
          },
          ...{ public_key: 'k', signature: 'g', scheme: 's', position, mfa_policy_id: null, mfa_pending: 0 },
          ...{ evaluation_id, outcomes: evaluation_id && 'A' },
        })
        const denied = (id: string, behind_vote: number | null) => ({
          ...of,
          id,
          vote_id: id,
          outcomes: 'D',
          behind_vote,
        })
        await database.write(async (tx) => {
          await insertActivity(tx, {
            ...{ id: activity_id, organization_id: o, type: 't', status: 's', fingerprint: 'f', intent: '{}' },
            ...{ answers: null, result: null, failure: null, timestamp_ms: '5', generate_app_proofs: 0 },
            ...{ window_opened_at: 5, ...MADE },
          })
          await insertVote(tx, vote(1, null))
          await insertPolicyEvaluation(tx, denied('a', null))
          await insertPolicyEvaluation(tx, denied('b', null))
          await insertPolicyEvaluation(tx, denied('c', 1))
          await insertVote(tx, vote(2, 'd'))
          await insertPolicyEvaluation(tx, denied('e', 2))
          await insertPolicyEvaluation(tx, denied('f', 2))
          await insertVote(tx, vote(3, 'g'))
        })
        const rows = await database.read((tx) => listPolicyEvaluations(tx, o, activity_id, { mostBytes: 1_000_000 }))
        expect(rows.map(({ id }) => id).join('')).toBe('abcdefg')
        expect(rows.map(({ vote_id: voteId }) => voteId).join(' ')).toBe('a b c v2 e f v3')
      }))

    test('order: a change leaves a row where it is in its list', () =>
      withStore(async (database, [o]) => {
        const tags = ['x', 'y'].map((each) => ({
          ...{ id: randomUUID(), organization_id: o, name: each, type: 'TAG_TYPE_USER', ...MADE },
        }))
        await database.write(async (tx) => {
          for (const tag of tags) await insertTag(tx, tag)
          await updateTag(tx, o, tags[0]!.id, { name: 'again', now: 6 })
        })
        const listed = await database.read((tx) => listTags(tx, o))
        expect(listed.map((tag) => tag.name)).toEqual(['again', 'y'])
      }))

    test('order: a parent’s sub-organizations are in the order of their creation, page by page', () =>
      withStore(async (database, [o, p]) => {
        const ids = Array.from({ length: 5 }, () => randomUUID())
        await database.write(async (tx) => {
          for (const id of ids) {
            await insertOrganization(tx, { id, parent_id: o, name: 's', quorum_threshold: 1, ...MADE })
            const other = { id: randomUUID(), parent_id: p, name: 's', quorum_threshold: 1, ...MADE }
            await insertOrganization(tx, other)
          }
        })
        const page = (cursor: { before?: string; after?: string }) =>
          database.read((tx) => listSubOrganizationIds(tx, o, { limit: 2, ...cursor }))
        expect(await page({})).toEqual([ids[4], ids[3]])
        expect(await page({ before: ids[3]! })).toEqual([ids[2], ids[1]])
        expect(await page({ after: ids[1]! })).toEqual([ids[3], ids[2]])
      }))

    test('order: sends of all organizations are in the order of their acceptance', () =>
      withStore(async (database, [o, p]) => {
        const ids = [randomUUID(), randomUUID(), randomUUID()]
        for (const [n, id] of ids.entries()) {
          await database.write((tx) =>
            insertSend(tx, {
              ...{
                id,
                organization_id: n === 1 ? p : o,
                activity_id: '',
                caip2: 'eip155:1',
                sender: 'f',
                request: '{}',
              },
              ...{ status: 'INITIALIZED', nonce: null, hash: null, failure: null, ...MADE, created_at: 9 - n },
            }),
          )
        }
        const open = await database.read((tx) => listOpenSends(tx, 'eip155:1'))
        expect(open.map(({ id }) => id)).toEqual(ids)
      }))

    test('policies: every change gives their organization a version it never had, and no other organization one', () =>
      withStore(async (database, [o, p]) => {
        const version = (tx: Transaction) => readPolicyVersion(tx, o)
        const other = await database.read((tx) => readPolicyVersion(tx, p))
        const seen = [await database.read(version)]
        const policy = policyOf(o, 'one')
        const steps: ((tx: Transaction) => Promise<void>)[] = [
          (tx) => insertPolicy(tx, policy, randomUUID()),
          (tx) => updatePolicy(tx, o, policy.id, { condition: 'true', now: 6, version: randomUUID() }),
          (tx) => insertPolicy(tx, policyOf(o, 'two'), randomUUID()),
          (tx) => deletePolicies(tx, o, [policy.id], randomUUID()),
        ]
        for (const step of steps) {
          await database.write(async (tx) => {
            await step(tx)
            seen.push(await version(tx))
          })
          expect(await database.read(version)).toEqual(seen.at(-1))
        }
        expect(new Set(seen.map(({ id }) => id)).size).toBe(5)
        expect(await database.read((tx) => readPolicyVersion(tx, p))).toEqual(other)
        expect((await database.read((tx) => policyTable.list(tx, o))).map((each) => each.name)).toEqual(['two'])
      }))

    test('transactions: work that throws leaves nothing, a savepoint undoes its own part, and the rest is there', () =>
      withStore(async (database) => {
        const put = (tx: Transaction, key: string) => insertSetting(tx, key, 'x')
        const results = await Promise.allSettled([
          database.write((tx) => put(tx, 'a')),
          database.write(async (tx) => {
            await put(tx, 'b')
            throw new Error('no')
          }),
          database.write(async (tx) => {
            await put(tx, 'c')
            await withSavepoint(tx, async () => {
              await put(tx, 'd')
              throw new Error('undone')
            }).catch(() => {})
          }),
        ])
        expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
        const read = (key: string) => database.read((tx) => readSetting(tx, key))
        expect([await read('a'), await read('b'), await read('c'), await read('d')]).toEqual([
          'x',
          undefined,
          'x',
          undefined,
        ])
      }))

    test('transactions: many at once on one organization count without a gap and without a place taken twice', () =>
      withStore(async (database, [o, p]) => {
        const add = (of: string, n: number) =>
          database.write(async (tx) => {
            await lockOrganization(tx, of)
            const before = (await listUsers(tx, of)).length
            await insertUser(tx, userOf(of, `${n} after ${before}`))
          })
        await Promise.all(Array.from({ length: 40 }, (_, n) => add(n % 2 ? o : p, n)))
        for (const of of [o, p]) {
          const told = (await database.read((tx) => listUsers(tx, of))).slice(1)
          expect(told.map((user) => Number(user.name.split(' after ')[1]))).toEqual(
            Array.from({ length: 20 }, (_, n) => n + 1),
          )
        }
      }))
  })
}
