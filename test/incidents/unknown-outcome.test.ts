/**
 * The third family of incidents: what came of a request was not known after a crash, and it was made again. The bytes of a
 * request are on disk before they are sent, and a client that does not know sends them again: the API answers with what it did.
 */
import type { ChildProcess } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Activities } from '../../activities/index.ts'
import { creatorsOf, kindsMentioned, readActual } from '../../src/live/index.ts'
import { makePlan, type Plan } from '../../src/plan/index.ts'
import type { TemporalConnections } from '../../src/worker/index.ts'
import { loadFiles } from '../definitions/harness.ts'
import { type Applying, bodiesByIntent, createApplying } from '../faults/applying.ts'
import type { Between, Fault, Passing } from '../faults/between.ts'
import { countByIntent } from '../faults/count.ts'
import { impatientClient } from '../faults/impatient.ts'
import { type Field, kill, openField } from '../reliability/field.ts'
import { line } from '../reliability/figures.ts'
import { addTenants, type Tenant } from '../service/handlers/steps.ts'
import { createTestUser, startTestService, type TestService, type TestUser } from '../service/harness.ts'
import { connectTestTemporal, testTemporal } from '../temporal.ts'
import { makePairs } from '../workflows/made-plan.ts'

const HOUR = 3_600_000
/** More at once would wait for each other on two cores. */
const AT_ONCE = 4

let temporal: TemporalConnections
beforeAll(async () => {
  temporal = await connectTestTemporal()
})
afterAll(() => temporal.close())

const answer = (status: number, body = ''): Fault => ({ kind: 'answer', status, body })

describe('unknown outcome: a fault at each request of an apply', () => {
  let service: TestService
  let applying: Applying
  beforeAll(async () => {
    service = await startTestService()
    applying = await createApplying(temporal, service)
  })
  afterAll(async () => {
    await applying.close()
    await service.close()
  })

  /** What happens to request `at`, and to so many after it. */
  const faults: readonly { readonly name: string; readonly fault: Fault; readonly times: number }[] = [
    { name: 'fails with 500', fault: answer(500), times: 1 },
    { name: 'is cut before the send', fault: { kind: 'cut before' }, times: 1 },
    { name: 'is cut after the send', fault: { kind: 'cut after' }, times: 1 },
    { name: 'is one too many, twenty times', fault: answer(429), times: 20 },
    { name: 'is never answered', fault: { kind: 'silence' }, times: 1 },
    { name: 'is forbidden', fault: answer(403, '{"code":7,"message":"no"}'), times: 1 },
  ]
  /** A tag, and a policy that names it: what is left of it to do, planned as anybody would. */
  async function planFor({ organizationId, client: { privateKey } }: Tenant): Promise<Plan> {
    const text = `organization: tenant
id: ${organizationId}
tags: { treasury: {} }
policies: { p: { effect: deny, consensus: "approvers.any(user, user.tags.contains('\${tag.treasury}'))", condition: 'false' } }
`
    const { desired } = await loadFiles({ 'a.yaml': text }, { env: {}, vars: {} })
    const client = impatientClient({ baseUrl: service.url, organizationId, privateKey })
    const actual = await readActual(client, { mentioned: kindsMentioned(desired!) })
    const [creators, now] = [await creatorsOf(client, actual, {}), new Date().toISOString()]
    const { plan } = makePlan({ desired: desired!, actual, creators, lock: {}, baseUrl: service.url, allow: [], now })
    return plan
  }

  /** Applies with the fault, and once more without when that did not finish it; gives what was seen. */
  async function applyUnder(tenant: Tenant, at: number, { fault, times }: (typeof faults)[number]) {
    const struck = ({ index }: Passing) => (index >= at && index < at + times ? fault : undefined)
    const runs = [await applying.start(tenant, await planFor(tenant), { meddle: struck })]
    const first = (await runs[0]!.ended()).state
    if (first !== 'done') runs.push(await applying.start(tenant, await planFor(tenant)))
    const last = (await runs.at(-1)!.ended()).state
    const counts = await countByIntent(tenant.client, tenant.organizationId)
    const betweens = runs.map(({ between }) => between)
    return {
      ...{ first, last },
      faults: betweens[0]!.faults,
      intents: counts.size,
      most: Math.max(...counts.values()),
      bodies: Math.max(...bodiesByIntent(betweens).values()),
    }
  }

  test('the same run or the next one finishes, and no intent is two activities', async () => {
    const [pilot, ...tenants] = await addTenants(service, 40)
    const whole = await applying.start(pilot!, await planFor(pilot!))
    expect((await whole.ended()).state).toBe('done')
    const requests = whole.between.passed
    // Every request meets a fault, all faults in turn; where it is submitted each request meets each of them.
    const cases = requests.flatMap(({ submits }, at) =>
      submits ? faults.map((fault) => ({ at, fault })) : [{ at, fault: faults[at % faults.length]! }],
    )
    expect(cases.length).toBeLessThanOrEqual(tenants.length)
    const seen: Awaited<ReturnType<typeof applyUnder>>[] = []
    const left = [...cases.entries()]
    const work = async () => {
      for (let next = left.shift(); next; next = left.shift()) {
        const [n, { at, fault }] = next
        seen[n] = await applyUnder(tenants[n]!, at, fault)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    const figures = { requests: requests.length, applies: seen.length, faults: 0, finishedByTheNext: 0, twins: 0 }
    for (const [n, one] of seen.entries()) {
      const what = `request ${cases[n]!.at} ${cases[n]!.fault.name}`
      figures.faults += one.faults
      figures.finishedByTheNext += one.first === 'done' ? 0 : 1
      figures.twins += one.most > 1 ? 1 : 0
      expect(one.faults, what).toBeGreaterThan(0)
      expect([what, one.last, one.intents, one.most]).toEqual([what, 'done', 2, 1])
      // Where nothing was refused nobody made another body.
      if (one.first === 'done') expect([what, one.bodies]).toEqual([what, 1])
    }
    console.log(line(figures))
    expect(figures.finishedByTheNext).toBeGreaterThan(0)
  })
})

/** The worker dies at exactly this moment of its first submit, or of its first look at what waits. */
describe('unknown outcome: a worker killed between two steps', () => {
  const [createTag] = makePairs(1)

  /** Kills the first worker when `fatal` says so and lets the request do what `fault` says; a second worker goes on. */
  async function crash({
    fatal,
    fault,
    before = async () => {},
    between = async () => {},
  }: {
    readonly fatal: (passing: Passing) => boolean
    readonly fault: Fault
    readonly before?: (field: Field) => Promise<void>
    readonly between?: (field: Field) => Promise<void>
  }) {
    let dead: (() => void) | undefined
    const died = new Promise<void>((resolve) => {
      dead = resolve
    })
    let worker: ChildProcess | undefined
    const field = await openField({
      temporal: await testTemporal(),
      batches: [createTag!],
      meddle: async (passing) => {
        if (!worker || !fatal(passing)) return undefined
        const victim = worker
        worker = undefined
        await kill(victim)
        dead?.()
        return fault
      },
    })
    try {
      await before(field)
      worker = await field.startWorker()
      await died
      await between(field)
      await field.startWorker()
      const { state } = await field.result()
      const bodies = field.between.passed.filter(({ path }) => path.endsWith('create_user_tag')).map(({ body }) => body)
      const made = [...(await field.counts())].filter(([intent]) => intent.includes('"t0"')).map(([, count]) => count)
      return { state, sent: bodies.length, bodies: new Set(bodies).size, made }
    } finally {
      // Not when "the test" has finished: of several at once nobody knows which one that is.
      await field.close()
    }
  }

  const submits = ({ path }: Passing) => path.endsWith('create_user_tag')

  test.concurrent('before the send: nothing is found, and the same bytes are sent', async () => {
    const after = await crash({ fatal: submits, fault: { kind: 'cut before' } })
    expect(after).toEqual({ state: 'done', sent: 2, bodies: 1, made: [1] })
  })

  test.concurrent('between the send and its record: what was sent is found by its bytes', async () => {
    const after = await crash({ fatal: submits, fault: { kind: 'cut after' } })
    expect(after).toEqual({ state: 'done', sent: 2, bodies: 1, made: [1] })
  })

  test.concurrent('while it waits for people: it goes on with what they decided meanwhile, and sends nothing', async () => {
    let bob: TestUser | undefined
    const after = await crash({
      fatal: ({ path }) => path.endsWith('get_activity'),
      fault: { kind: 'cut before' },
      before: async ({ service }) => {
        bob = await createTestUser(service, 'bob')
        const userIds = [service.rootUserId, bob.userId]
        await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
      },
      between: async ({ service }) => {
        const { activities } = await service.root.query('list_activities', {
          filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
        })
        await bob!.client.approve(activities[0]!.fingerprint)
      },
    })
    expect(after).toEqual({ state: 'done', sent: 1, bodies: 1, made: [1] })
  })
})

/** Minutes and hours pass at the service; what was made before is as old to it. */
describe('unknown outcome: an outage of more than an hour', () => {
  let aheadMs = 0
  const clock = () => Date.now() + aheadMs
  const [createTag] = makePairs(1)
  let service: TestService
  let applying: Applying
  beforeAll(async () => {
    service = await startTestService({ clock })
    applying = await createApplying(temporal, service, { clock })
  })
  afterAll(async () => {
    await applying.close()
    await service.close()
  })

  /** An apply whose body is made two hours before it can be sent. */
  const madeBefore = (usual: Activities): Partial<Activities> => {
    let first = true
    return {
      prepareRequest: (input) => {
        const timestampMs = first ? input.timestampMs - 2 * HOUR : input.timestampMs
        first = false
        return usual.prepareRequest({ ...input, timestampMs })
      },
    }
  }
  const stepsOf = ({ passed }: Between) =>
    passed.map(({ path }) => path.split('/').at(-1)!).filter((name) => /list_activities|create_user_tag/.test(name))

  test('that a body never passed: it is stale, an equal intent is looked for, and then another body is made', async () => {
    const [tenant] = await addTenants(service, 1)
    const run = await applying.start(tenant!, [createTag!], { activities: madeBefore })
    expect((await run.ended()).state).toBe('done')
    expect(stepsOf(run.between)).toEqual(['list_activities', 'create_user_tag', 'list_activities', 'create_user_tag'])
    expect([...(await countByIntent(tenant!.client, tenant!.organizationId)).values()]).toEqual([1])
  })

  test('that lost an answer: the same bytes are answered with the activity that they made, at any age', async () => {
    const [tenant] = await addTenants(service, 1)
    const run = await applying.start(tenant!, [createTag!], {
      meddle: ({ submits }) => {
        if (!submits || aheadMs > 0) return undefined
        // Everything after the activity is two hours later; an answer before that is cut as well.
        const made = () => countByIntent(tenant!.client, tenant!.organizationId)
        void vi
          .waitUntil(async () => (await made()).size === 1)
          .then(() => {
            aheadMs = 2 * HOUR
          })
        return { kind: 'cut after' }
      },
    })
    const { state, batches } = await run.ended()
    aheadMs = 0
    expect(state).toBe('done')
    const bodies = run.between.passed.filter(({ submits }) => submits).map(({ body }) => body)
    expect([bodies.length > 1, new Set(bodies).size]).toEqual([true, 1])
    expect([...(await countByIntent(tenant!.client, tenant!.organizationId)).values()]).toEqual([1])
    expect(batches[0]!.state).toBe('completed')
  })

  test('in which somebody else asked for the same: that activity is taken up, and no other is made', async () => {
    const { root, organizationId, rootUserId } = service
    const bob = await createTestUser(service, 'bob')
    const userIds = [rootUserId, bob.userId]
    await root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
    const before = await countByIntent(root, organizationId)
    let asked = false
    const run = await applying.start({ organizationId, userId: rootUserId, client: root }, [createTag!], {
      activities: madeBefore,
      meddle: async ({ submits }) => {
        if (!submits || asked) return undefined
        asked = true
        await bob.client.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 't0', userIds: [] })
        return undefined
      },
    })
    const result = await run.ended()
    expect(result.state).toBe('done')
    expect(result.batches[0]!.votes!.approved).toEqual(['bob', 'root'])
    const counts = await countByIntent(root, organizationId)
    const made = [...counts].filter(([intent]) => !before.has(intent) && intent.includes('"t0"'))
    expect(made.map(([, count]) => count)).toEqual([1])
    expect(stepsOf(run.between)).toEqual(['list_activities', 'create_user_tag', 'list_activities'])
  })
})
