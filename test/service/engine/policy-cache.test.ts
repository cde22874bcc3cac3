import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorize, compilePolicy, indexPolicies } from '../../../src/policy/index.ts'
import { activities } from '../../../src/protocol/index.ts'
import { createJudge } from '../../../src/service/engine/judgement.ts'
import { createPolicySource } from '../../../src/service/engine/policy-cache.ts'
import { withWork } from '../../../src/service/engine/work.ts'
import { insertPolicy, updatePolicy } from '../../../src/service/resources/policies/store.ts'
import { type Database, insertFirstOrganization, openDatabase } from '../../../src/service/store/index.ts'
import { createWorkPool } from '../../../src/service/work/pool.ts'

const ORGANIZATION = '00000000-0000-4000-8000-00000000000a'
const POLICIES = 30
const NOW = 1_750_000_000_000
const conditionOf = (at: number) => `activity.kind == 'SIGN_${at}'${" || activity.kind == 'x'".repeat(100)}`

let folder: string
let database: Database
const pool = createWorkPool()
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-policies-'))
  database = openDatabase(join(folder, 'quorate.db'), { now: NOW })
  const user = { id: '00000000-0000-4000-8000-00000000000b', name: 'root' }
  const apiKey = { id: '00000000-0000-4000-8000-00000000000c', name: 'root', publicKey: `02${'11'.repeat(32)}` }
  await database.write(async (tx) => {
    await insertFirstOrganization(tx, { id: ORGANIZATION, name: 'o', user, apiKey }, NOW)
    for (let at = 0; at < POLICIES; at++) {
      const policy = { id: `p${at}`, organization_id: ORGANIZATION, name: `p${at}`, effect: 'EFFECT_ALLOW', notes: '' }
      const texts = { condition: conditionOf(at), consensus: null, time: null }
      await insertPolicy(tx, { ...policy, ...texts, created_at: NOW, updated_at: NOW }, `v${at}`)
    }
  })
})
afterAll(async () => {
  await pool.close()
  await database.close()
  rmSync(folder, { recursive: true })
})

const source = createPolicySource()
/** The policies, and how often the store was asked for them. */
async function read() {
  let attempts = 0
  const { policies } = await withWork(pool, (work) =>
    database.read((tx) => {
      attempts++
      return source(tx, ORGANIZATION, work)
    }),
  )
  return { policies, attempts }
}

describe('policies of an organization', () => {
  test('policies of an organization: many long ones are compiled outside of the transaction, one a turn of the loop', async () => {
    const { policies, attempts } = await read()
    expect([attempts, pool.steps.taken()]).toEqual([2, POLICIES])
    const request = (kind: string) => ({
      now: 0n,
      activity: { type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' as const, params: {}, kind },
      approvers: [{ id: 'u', tags: [], alias: 'u' }],
      credentials: [],
      rootQuorum: { userIds: [], threshold: 1 },
    })
    const plain = Array.from({ length: POLICIES }, (_, at) =>
      compilePolicy({ id: `p${at}`, name: `p${at}`, effect: 'EFFECT_ALLOW', condition: conditionOf(at) }),
    )
    expect(authorize(policies, request('x') as never)).toEqual(authorize(plain, request('x') as never))
  })

  test('policies of an organization: they are kept, and of a new version only what changed is compiled', async () => {
    expect(await read()).toMatchObject({ attempts: 1 })
    const condition = "activity.kind == 'changed'"
    await database.write((tx) => updatePolicy(tx, ORGANIZATION, 'p3', { condition, now: NOW, version: 'changed' }))
    const { policies, attempts } = await read()
    expect([attempts, pool.steps.taken()]).toEqual([1, POLICIES])
    expect(policies.policies.map(({ policy }) => policy.condition)).toEqual(
      Array.from({ length: POLICIES }, (_, at) => (at === 3 ? condition : conditionOf(at))),
    )
  })

  test('policies of an organization: a long decision is made outside of the transaction, in turns, and as at one go', async () => {
    const nine = '[1, 2, 3, 4, 5, 6, 7, 8, 9]'
    // Takes about 200,000 steps.
    const dear = `${nine}.all(a, ${nine}.all(b, ${nine}.all(c, ${nine}.all(d, ${nine}.all(e, e > 0)))))`
    const policies = Array.from({ length: 6 }, (_, at) =>
      compilePolicy({ id: `p${at}`, name: `p${at}`, effect: 'EFFECT_ALLOW', condition: dear }),
    )
    const version = { id: 'v', organizationId: ORGANIZATION, isKept: false }
    const judge = createJudge(async () => ({ version, policies: indexPolicies(policies) }))
    const [taken, nows] = [pool.steps.taken(), [NOW, NOW + 5, NOW + 10]]
    let attempts = 0
    const left: number[] = []
    const decision = await withWork(pool, (work) =>
      database.read(async (tx) => {
        const now = nows[attempts++]!
        const context = { tx, organizationId: ORGANIZATION, homeId: ORGANIZATION, now, work }
        const row = activities.ACTIVITY_TYPE_CREATE_USER_TAG
        const made = await judge.decide({ row, intent: {}, handler: {}, context } as never, [])
        left.push(work.budget.steps)
        return made
      }),
    )
    expect(decision).toMatchObject({ outcome: 'OUTCOME_ALLOW', policyVersion: version })
    expect(decision.policies).toHaveLength(6)
    // What the policies took is taken from the request, whose clock has gone on meanwhile.
    expect(attempts).toBe(2)
    expect(left[0]).toBeGreaterThan(0)
    expect(left[0]).toBeLessThan(1_000_000)
    expect(pool.steps.taken() - taken).toBeGreaterThan(5)

    // Of what is never the same twice a decision is made all the same.
    let nonce = 0
    const restless = await withWork(pool, (work) =>
      database.read((tx) => {
        const context = { tx, organizationId: ORGANIZATION, homeId: ORGANIZATION, now: NOW, work }
        const row = activities.ACTIVITY_TYPE_CREATE_USER_TAG
        const handler = { facts: () => ({ wallet: { id: String(nonce++) } }) }
        return judge.decide({ row, intent: {}, handler, context } as never, [])
      }),
    )
    expect(restless.outcome).toBe('OUTCOME_ALLOW')
    expect(nonce).toBeGreaterThan(2)
  })

  test('policies of an organization: a transaction that changed one and was undone leaves nothing of it', async () => {
    const attempt = database.write(async (tx) => {
      await updatePolicy(tx, ORGANIZATION, 'p4', { condition: 'true', now: NOW, version: 'undone' })
      await withWork(pool, (work) => source(tx, ORGANIZATION, work))
      throw new Error('undone')
    })
    await expect(attempt).rejects.toThrow('undone')
    expect((await read()).policies.policies[4]!.policy.condition).toBe(conditionOf(4))
  })
})
