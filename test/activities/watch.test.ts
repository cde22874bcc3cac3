/** One look at a watched organization, step by step: what is asked, what is kept, and what a stranger's call comes to. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  type Activities,
  afterHeld,
  createActivities,
  createPlanStore,
  type PlanStore,
  type Watch,
} from '../../activities/index.ts'
import { digestOf, type Plan } from '../../src/plan/index.ts'
import { silentLogger } from '../../src/telemetry/index.ts'
import { testFolder } from '../cli/harness.ts'
import { makeTagPlan } from '../workflows/tag-plan.ts'

const ORGANIZATION = '10000000-0000-4000-8000-000000000001'
const MINUTE = 60_000

/** The world: what an activity list answers, what the plan is, and what time it is. */
let world: { newest: string; plan: Plan; nowMs: number; queries: number; fails: boolean; applying: boolean }
let store: PlanStore
let folder: string
let steps: Activities

const same: Plan = makeTagPlan(ORGANIZATION, 'http://127.0.0.1:1', [])
/** A tag that somebody deleted. */
function drifted(name = 'treasury'): Plan {
  const plan = makeTagPlan(ORGANIZATION, 'http://127.0.0.1:1', [{ name }])
  const change = { address: `tag.${name}`, kind: 'tag', action: 'create', cause: 'live changed', fields: [] } as const
  const whole: Plan = { ...plan, changes: [{ ...change, batch: 0, author: null }] }
  return { ...whole, createdAt: new Date(world.nowMs).toISOString(), digest: digestOf(whole) }
}

beforeEach(async () => {
  world = {
    newest: 'a',
    plan: same,
    nowMs: Date.parse('2026-01-01T00:00:00Z'),
    queries: 0,
    fails: false,
    applying: false,
  }
  folder = join(testFolder(), 'plans')
  store = createPlanStore(folder)
  const client = {
    publicKey: '02ab',
    query: async (_: string, { filterByStatus }: { readonly filterByStatus: readonly string[] }) => {
      world.queries++
      if (world.fails) throw new Error('the connection broke')
      return {
        activities: filterByStatus.length > 0 ? [] : [{ id: world.newest, status: 'ACTIVITY_STATUS_COMPLETED' }],
      }
    },
  }
  steps = createActivities({
    clientFor: () => client as never,
    planStore: store,
    clock: () => world.nowMs,
    logger: silentLogger,
    isApplying: async () => world.applying,
    planWatched: async () => {
      world.queries += 10
      return { plan: world.plan, lock: () => ({}), vouched: {}, settings: { modes: {} }, assertApplicable: () => {} }
    },
  })
})

async function watch(modes: Watch['modes'] = {}, more: Partial<Watch> = {}): Promise<void> {
  const definitions = await store.watches.putDefinitions({
    format: 'quorate.definitions/1',
    folder: '.',
    folders: {},
    files: {},
  })
  await store.watches.put({
    ...{ organizationId: ORGANIZATION, organization: 'acme', baseUrl: '', definitions, modes },
    ...{ given: { env: {}, vars: {} }, everyMs: MINUTE, sweepMs: 60 * MINUTE, since: '' },
    ...more,
  })
}
const look = () => steps.lookAround({ organizationId: ORGANIZATION })
const state = async () => (await store.watches.stateOf(ORGANIZATION))!

describe('a look', () => {
  test('asks twice while nothing is new, and for all of it after an activity or an hour', async () => {
    await watch()
    expect((await look()).outcome).toBe('as defined')
    world.queries = 0
    expect((await look()).outcome).toBe('unchanged')
    expect(world.queries).toBe(2)
    world.newest = 'b'
    expect((await look()).outcome).toBe('as defined')
    world.nowMs += 60 * MINUTE
    expect((await look()).outcome).toBe('as defined')
  })

  test('reads all of it for news of what is inside it, once for each, and not more often than it is looked at', async () => {
    await watch()
    await look()
    await store.watches.putNews(ORGANIZATION, 'one')
    world.nowMs += MINUTE - 1
    expect((await look()).outcome).toBe('unchanged')
    world.nowMs += 1
    expect((await look()).outcome).toBe('as defined')
    world.nowMs += MINUTE
    expect((await look()).outcome).toBe('unchanged')
    await store.watches.putNews(ORGANIZATION, 'two')
    expect((await look()).outcome).toBe('as defined')
    await store.watches.remove(ORGANIZATION)
    expect(await store.watches.newsOf(ORGANIZATION)).toBeUndefined()
  })

  test('that fails keeps what was known, says since when, and the next one reads all of it', async () => {
    await watch()
    world.plan = drifted()
    await look()
    world.fails = true
    world.nowMs += MINUTE
    expect(await look()).toEqual({ outcome: 'failed', drift: 1 })
    world.nowMs += MINUTE
    await look()
    const { error, drift } = await state()
    expect(drift).toHaveLength(1)
    expect(error).toMatchObject({ code: 'apply/unexpected', since: '2026-01-01T00:01:00.000Z' })
    world.fails = false
    expect((await look()).outcome).toBe('drift')
    expect((await state()).error).toBeUndefined()
  })

  test('keeps no more after 30 days of looks than after one', async () => {
    await watch()
    const sizeOf = () =>
      readdirSync(join(folder, '..'), { recursive: true, encoding: 'utf8' })
        .map((name) => statSync(join(folder, '..', name)))
        .reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0)
    const days = async (count: number) => {
      // A sweep an hour, and a look beside each.
      for (let hour = 0; hour < 24 * count; hour++) {
        world.nowMs += 60 * MINUTE
        await look()
        await look()
      }
      return sizeOf()
    }
    const afterOne = await days(1)
    expect(await days(29)).toBeLessThan(afterOne + 100)
  })
})

describe('a repair', () => {
  test('that was found by a worker that died before it said so is found again, until its apply has begun', async () => {
    await watch({ tag: 'repair' })
    world.plan = drifted()
    const { repair } = await look()
    expect(repair).toBe(world.plan.digest)
    expect((await look()).repair).toBe(repair)
    world.applying = true
    expect((await look()).repair).toBeUndefined()
    world.applying = false
    const one = { organizationId: ORGANIZATION, planDigest: repair! }
    const { run } = await steps.openRepair(one)
    await steps.settleRepair({ ...one, run, begun: true })
    expect((await look()).repair).toBeUndefined()
  })

  test('beside an apply that runs there is none, and once that is over all is read again', async () => {
    await watch({ tag: 'repair' })
    world.plan = drifted()
    world.applying = true
    expect(await look()).toEqual({ outcome: 'drift', drift: 1 })
    expect(await look()).toEqual({ outcome: 'unchanged', drift: 1 })
    world.applying = false
    expect((await look()).repair).toBe(world.plan.digest)
  })

  test('that somebody rejected is not begun again until the definitions change or a person resumes it', async () => {
    await watch({ tag: 'repair' })
    world.plan = drifted()
    const { repair } = await look()
    const one = { organizationId: ORGANIZATION, planDigest: repair! }
    const { run } = await steps.openRepair(one)
    await steps.settleRepair({ ...one, run, begun: true })
    const batches = [
      {
        index: 0,
        type: 'T',
        summary: '',
        state: 'rejected',
        error: { code: 'apply/rejected', message: 'rejected by bob' },
      },
    ] as const
    await store.putOutcome(world.plan, { planDigest: repair!, state: 'rejected', startedAt: '', batches })
    for (const newest of ['b', 'c']) {
      world.newest = newest
      expect(await look()).toEqual({ outcome: 'held', drift: 1 })
      const { held } = await state()
      expect(held).toMatchObject({ code: 'cli/rejected', why: expect.stringContaining('rejected by bob') })
      expect(afterHeld(held!)).toContain('--ask-again')
    }
    world.nowMs += MINUTE
    // An apply that a person has begun has put it right, and is not over yet.
    const { plan } = world
    Object.assign(world, { applying: true, plan: same, newest: 'd' })
    expect(await look()).toEqual({ outcome: 'as defined', drift: 0 })
    expect((await state()).held).toBeUndefined()
    Object.assign(world, { applying: false, plan, newest: 'e' })
    expect(await look()).toEqual({ outcome: 'held', drift: 1 })
    world.nowMs += MINUTE
    await watch({ tag: 'repair' }, { resumedAt: new Date(world.nowMs).toISOString() })
    expect((await look()).repair).toBe(repair)
  })
})

describe('a stranger who can call the steps', () => {
  test('lets in no plan but the one that a look has found, for no organization but its own', async () => {
    await watch({ tag: 'report' })
    world.plan = drifted()
    await store.putPlan(world.plan)
    expect((await look()).repair).toBeUndefined()
    const wanted = { organizationId: ORGANIZATION, planDigest: world.plan.digest }
    await expect(steps.openRepair(wanted)).rejects.toMatchObject({ type: 'apply/not-watched' })
    await watch({ tag: 'repair' })
    world.newest = 'b'
    await look()
    const other = drifted('other')
    await store.putPlan(other)
    await expect(steps.openRepair({ ...wanted, planDigest: other.digest })).rejects.toMatchObject({
      type: 'apply/not-watched',
    })
    const elsewhere = { ...wanted, organizationId: '20000000-0000-4000-8000-000000000002' }
    await expect(steps.openRepair(elsewhere)).rejects.toMatchObject({ type: 'apply/not-watched' })
    await store.watches.remove(ORGANIZATION)
    await expect(steps.openRepair(wanted)).rejects.toMatchObject({ type: 'apply/not-watched' })
  })

  test('ends no run of a person with the words that a repair has begun', async () => {
    await watch({ tag: 'repair' })
    world.plan = drifted()
    const planDigest = (await look()).repair!
    const run = await store.runs.open(world.plan.digest)
    await store.putPlan(world.plan)
    for (const begun of [true, false]) {
      const settled = steps.settleRepair({ organizationId: ORGANIZATION, planDigest, run: 'a'.repeat(64), begun })
      await expect(settled).rejects.toMatchObject({ type: 'apply/not-watched' })
    }
    await store.runs.assertOpen({ planDigest: world.plan.digest, run })
  })
})
