import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Activities } from '../../activities/index.ts'
import { askAnew, startApply } from '../../src/operations/apply.ts'
import { openStages, type Stage, type Stages, states } from './harness.ts'
import { makeTagPlan } from './tag-plan.ts'

let all: Stages
beforeAll(async () => {
  all = await openStages()
})
afterAll(() => all.close())

const stages: Stage[] = []
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close()
})

async function stageWith(options: Parameters<Stages['create']>[0] = {}): Promise<Stage> {
  const stage = await all.create(options)
  stages.push(stage)
  return stage
}

const HOUR = 3_600_000
const once = (stage: Stage) =>
  expect([...stage.api.countByIntent().values()].filter((count) => count !== 1)).toEqual([])

describe('apply: one after the other', () => {
  test('an apply that is over, and only keeps its outcome still, is neither joined nor in the way of the next', async () => {
    let letKeep = () => {}
    const mayKeep = new Promise<void>((resolve) => {
      letKeep = resolve
    })
    const stage = await stageWith({
      activities: (usual) => ({
        recordOutcome: async (input) => {
          await mayKeep
          return usual.recordOutcome(input)
        },
      }),
    })
    const first = await stage.startApply([{ name: 'a' }])
    await first.until(({ state }) => state === 'done')
    const { organizationId, api, applies } = stage
    const next = startApply(applies, makeTagPlan(organizationId, api.baseUrl, [{ name: 'b' }]))
    // The next one has found the lock held.
    await delay(500)
    letKeep()
    const { own } = await next
    expect(await own!.result()).toMatchObject({ state: 'done' })
    expect(api.activities.map(({ parameters }) => parameters)).toMatchObject([
      { userTagName: 'a' },
      { userTagName: 'b' },
    ])
  })
})

describe('apply: the walk', () => {
  test('batches run in their order, and later ones get the ids of earlier ones', async () => {
    const stage = await stageWith()
    const run = await stage.startApply([{ name: 'a' }, { name: 'b', after: ['a'] }, { name: 'c', uses: ['a', 'b'] }])
    const result = await run.ended('completed')
    expect(result).toMatchObject({ state: 'done', planDigest: run.plan.digest })
    expect(states(result)).toEqual(['completed', 'completed', 'completed'])
    const [a, b, c] = stage.api.activities
    const idOf = (activity: typeof a) => (activity!.result.createUserTagResult as { userTagId: string }).userTagId
    expect(c!.parameters).toEqual({ userTagName: 'c', userIds: [idOf(a), idOf(b)] })
    expect(result.batches[0]).toMatchObject({
      activityId: a!.id,
      fingerprint: a!.fingerprint,
      votes: { approved: ['alice'] },
    })
    once(stage)
  })

  test('a plan without batches is done', async () => {
    const stage = await stageWith()
    const run = await stage.startApply([])
    expect(await run.ended()).toMatchObject({ state: 'done', batches: [] })
    expect(stage.api.submits).toEqual([])
  })

  test('a second apply for the organization is refused while one runs', async () => {
    const stage = await stageWith()
    stage.api.decide = () => 'waits'
    const run = await stage.startApply([{ name: 'a' }])
    await expect(stage.startApply([{ name: 'b' }])).rejects.toThrow(/already/i)
    await run.handle.signal('cancel')
    await run.ended()
  })
})

describe('apply: waiting for people', () => {
  test('an approval and a nudge let it go on', async () => {
    const stage = await stageWith()
    stage.api.decide = (_, { userTagName }) => (userTagName === 'a' ? 'waits' : 'completes')
    const run = await stage.startApply([{ name: 'a' }, { name: 'b', after: ['a'] }])
    const waiting = await run.until(({ state }) => state === 'waiting')
    expect(states(waiting)).toEqual(['waiting', 'pending'])
    expect(waiting.batches[0]).toMatchObject({
      votes: { approved: ['alice'] },
      since: expect.stringMatching(/^\d{4}-/),
    })
    stage.api.vote('bob', waiting.batches[0]!.fingerprint!, 'approve')
    await run.handle.signal('nudge')
    const result = await run.ended('approved')
    expect(result.state).toBe('done')
    expect(result.batches[0]!.votes!.approved).toEqual(['alice', 'bob'])
    once(stage)
  })

  test('polling finds an approval that nobody told of', async () => {
    const stage = await stageWith()
    stage.api.decide = () => 'waits'
    const run = await stage.startApply([{ name: 'a' }])
    const { batches } = await run.until(({ state }) => state === 'waiting')
    stage.api.vote('bob', batches[0]!.fingerprint!, 'approve')
    expect((await run.ended()).state).toBe('done')
  })

  test('a rejection names who, and stops what depends on it', async () => {
    const stage = await stageWith()
    stage.api.decide = (_, { userTagName }) => (userTagName === 'a' ? 'waits' : 'completes')
    const run = await stage.startApply([{ name: 'a' }, { name: 'b', after: ['a'] }, { name: 'c' }])
    const { batches } = await run.until(({ batches: [a, , c] }) => a?.state === 'waiting' && c?.state === 'completed')
    stage.api.vote('bob', batches[0]!.fingerprint!, 'reject')
    await run.handle.signal('nudge')
    const result = await run.ended('rejected')
    expect(result.state).toBe('rejected')
    expect(states(result)).toEqual(['rejected', 'skipped', 'completed'])
    expect(result.batches[0]!.error).toMatchObject({ code: 'apply/rejected', message: 'rejected by bob' })
    expect(result.batches[1]!.error).toMatchObject({
      code: 'apply/skipped',
      message: 'it needs batch 1, which was rejected',
    })
  })

  test("after 24 hours the submitter's lapsed vote is cast again, on the same activity, and others are named to vote again", async () => {
    const stage = await stageWith()
    stage.api.decide = () => 'waits'
    stage.api.threshold = 3
    const run = await stage.startApply([{ name: 'a' }])
    await run.until(({ state }) => state === 'waiting')
    const [{ fingerprint }] = stage.api.activities as [(typeof stage.api.activities)[number]]
    stage.api.vote('bob', fingerprint, 'approve')
    stage.api.age(25 * HOUR)
    await run.handle.signal('nudge')
    const { batches } = await run.until(
      // As it is told since the vote was cast again: before, there was nothing that had lapsed.
      ({ batches: [a] }) =>
        a!.votes!.lapsed !== undefined &&
        a!.votes!.approved.includes('alice') &&
        stage.api.activities[0]!.votes.length === 3,
    )
    expect(batches[0]!.votes).toEqual({ approved: ['alice'], lapsed: ['bob'] })
    stage.api.vote('dana', fingerprint, 'approve')
    stage.api.vote('bob', fingerprint, 'approve')
    await run.handle.signal('nudge')
    expect((await run.ended('voted-again')).state).toBe('done')
    expect(stage.api.activities).toHaveLength(1)
  })

  test('a pending activity with an equal intent is taken up, and approved when somebody else submitted it', async () => {
    const stage = await stageWith()
    stage.api.decide = () => 'waits'
    stage.api.submitAs('bob', 'ACTIVITY_TYPE_CREATE_USER_TAG', { userIds: [], userTagName: 'a' })
    const run = await stage.startApply([{ name: 'a' }])
    const result = await run.ended('taken-up')
    expect(result.state).toBe('done')
    expect(stage.api.activities).toHaveLength(1)
    expect(result.batches[0]!.votes!.approved).toEqual(['bob', 'alice'])
  })

  test('while its own vote is on its way it does not say that it waits, nor that it has looked', async () => {
    const vote = Promise.withResolvers<void>()
    onTestFinished(() => vote.resolve())
    const stage = await stageWith({
      activities: (usual) => ({
        castVote: async (input) => {
          await vote.promise
          return usual.castVote(input)
        },
      }),
    })
    stage.api.decide = () => 'waits'
    stage.api.threshold = 3
    stage.api.submitAs('bob', 'ACTIVITY_TYPE_CREATE_USER_TAG', { userIds: [], userTagName: 'a' })
    const run = await stage.startApply([{ name: 'a' }])
    const voting = await run.until(({ batches: [a] }) => a?.state === 'waiting')
    expect([voting.state, voting.batches[0]!.votes!.approved]).toEqual(['running', ['bob']])
    // A command that asks anew is answered once the vote was cast.
    const asked = askAnew(run.handle, 600_000)
    await delay(500)
    vote.resolve()
    for (const told of [await asked, await run.until(({ state }) => state === 'waiting')])
      expect([told.state, told.batches[0]!.votes!.approved]).toEqual(['waiting', ['bob', 'alice']])
    stage.api.vote('dana', voting.batches[0]!.fingerprint!, 'approve')
    await run.handle.signal('nudge')
    expect((await run.ended()).state).toBe('done')
  })
})

describe('apply: what goes wrong', () => {
  test('a denied batch fails; independent ones go on; what depends on it is skipped', async () => {
    const stage = await stageWith()
    stage.api.decide = (_, { userTagName }) => (userTagName === 'a' ? 'denied' : 'completes')
    const run = await stage.startApply([
      { name: 'a' },
      { name: 'b', after: ['a'] },
      { name: 'c' },
      { name: 'd', after: ['c'] },
    ])
    const result = await run.ended('denied')
    expect(result.state).toBe('failed')
    expect(states(result)).toEqual(['failed', 'skipped', 'completed', 'completed'])
    expect(result.batches[0]!.error).toMatchObject({ code: 'client/denied', next: expect.any(String) })
    expect(stage.api.submits).toHaveLength(3)
  })

  test('an activity that the API could not carry out fails with its words', async () => {
    const stage = await stageWith()
    stage.api.decide = () => 'fails'
    const run = await stage.startApply([{ name: 'a' }])
    expect((await run.ended('failed')).batches[0]).toMatchObject({
      state: 'failed',
      error: { code: 'apply/activity-failed', message: 'the API could not carry it out: tag name `taken` is taken' },
    })
  })

  test('an answer lost after the activity was carried out makes no second one', async () => {
    const stage = await stageWith()
    stage.api.loseAnswer = (count) => count <= 2
    const run = await stage.startApply([{ name: 'a' }])
    expect((await run.ended('retried')).state).toBe('done')
    expect(stage.api.submits).toHaveLength(3)
    expect(new Set(stage.api.submits.map(({ body }) => body)).size).toBe(1)
    once(stage)
  })

  test('while the service is down it says so, and goes on when it is back', async () => {
    const stage = await stageWith({
      activities: (usual) => ({
        // The service fails once the body is there.
        prepareRequest: async (input) => {
          const prepared = await usual.prepareRequest(input)
          stage.api.down = true
          return prepared
        },
      }),
    })
    const run = await stage.startApply([{ name: 'a' }])
    const down = await run.until(({ batches: [a] }) => a?.error !== undefined)
    expect(down).toMatchObject({
      state: 'running',
      batches: [{ state: 'submitting', error: { code: 'client/server-error' } }],
    })
    stage.api.down = false
    await run.handle.signal('nudge')
    const result = await run.ended('outage')
    expect(result.state).toBe('done')
    expect(result.batches[0]!.error).toBeUndefined()
  })

  test('a body that grew too old while the service was away is made anew, once', async () => {
    let aheadMs = 0
    const prepared: string[] = []
    const stage: Stage = await stageWith({
      clock: () => Date.now() + aheadMs,
      activities: (usual) => ({
        prepareRequest: async (input) => {
          const made = await usual.prepareRequest(input)
          if (made.kind === 'made') prepared.push(made.fingerprint)
          // Two hours pass between the first body and its sending.
          aheadMs = prepared.length === 1 ? 2 * HOUR : 0
          stage.api.clockAheadMs = aheadMs
          return made
        },
      }),
    })
    const run = await stage.startApply([{ name: 'a' }])
    expect((await run.ended('stale-body')).state).toBe('done')
    expect(new Set(prepared).size).toBe(2)
    expect(stage.api.activities.map(({ fingerprint }) => fingerprint)).toEqual([prepared[1]])
  })

  test('a wrong clock is an error, not a loop', async () => {
    const stage = await stageWith()
    stage.api.clockAheadMs = -2 * HOUR
    const run = await stage.startApply([{ name: 'a' }])
    expect((await run.ended()).batches[0]).toMatchObject({ state: 'failed', error: { code: 'client/clock-skew' } })
    expect(stage.api.submits).toHaveLength(1)
  })

  test('a plan that is not in the store, or was edited there, submits nothing', async () => {
    const gone = await stageWith({ activities: missing('apply/plan-missing') })
    const run = await gone.startApply([{ name: 'a' }])
    expect(await run.ended()).toMatchObject({ state: 'failed', batches: [], error: { code: 'apply/plan-missing' } })
    expect(gone.api.submits).toEqual([])
  })

  test('a stale plan submits nothing and says what moved', async () => {
    const error = { code: 'plan/stale', message: 'the organization has moved: `tag.x` is new' }
    const stage = await stageWith({ activities: () => ({ checkPlanFresh: async () => ({ fresh: false, error }) }) })
    const run = await stage.startApply([{ name: 'a' }])
    expect(await run.ended()).toMatchObject({ state: 'stale', error })
    expect(stage.api.submits).toEqual([])
  })
})

describe('apply: cancelling', () => {
  test('stops while it waits: nothing new is begun, the pending activity stays', async () => {
    const stage = await stageWith()
    stage.api.decide = () => 'waits'
    const run = await stage.startApply([{ name: 'a' }, { name: 'b', after: ['a'] }])
    await run.until(({ state }) => state === 'waiting')
    await run.handle.signal('cancel')
    const result = await run.ended('cancelled')
    expect(result.state).toBe('cancelled')
    expect(states(result)).toEqual(['waiting', 'pending'])
    expect(stage.api.activities[0]!.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')

    // The next apply takes the pending activity up.
    const again = await stage.startApply([{ name: 'a' }, { name: 'b', after: ['a'] }])
    const { batches } = await again.until(({ state }) => state === 'waiting')
    expect(batches[0]!.activityId).toBe(result.batches[0]!.activityId)
    await again.handle.cancel()
    expect((await again.ended()).state).toBe('cancelled')
    expect(stage.api.activities).toHaveLength(1)
  })

  test('a submit under way is awaited and recorded first', async () => {
    const stage = await stageWith()
    stage.api.answerAfterMs = 500
    const arrived = new Promise<void>((resolve) => {
      stage.api.decide = () => {
        resolve()
        return 'completes'
      }
    })
    const run = await stage.startApply([{ name: 'a' }, { name: 'b', after: ['a'] }])
    await arrived
    await run.handle.signal('cancel')
    const result = await run.ended()
    expect(states(result)).toEqual(['completed', 'pending'])
    expect(result.state).toBe('cancelled')
  })
})

function missing(code: string): (usual: Activities) => Partial<Activities> {
  return (usual) => ({
    loadOutline: (input) =>
      usual.loadOutline({ ...input, planDigest: code === 'apply/plan-missing' ? '0'.repeat(64) : input.planDigest }),
  })
}
