/** Organizations that are watched: a real Temporal Schedule, worker and service; looks are asked for, and nobody waits for a clock. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { WatchState } from '../../activities/index.ts'
import {
  type ApplyPlace,
  findWatch,
  pauseWatch,
  resumeWatch,
  runWatch,
  taskQueueOf,
  type Watched,
  whereShown,
} from '../../src/operations/index.ts'
import { readPlan } from '../../src/plan/index.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { runs } from '../runs.ts'
import { createTestUser } from '../service/harness.ts'
import { testBundle } from '../worker-runtime.ts'
import { askUntil } from '../workflows/asking.ts'
import { createReplayer } from '../workflows/recorded.ts'
import { countActivities, keyFile, quorateShared as quorate, writeFiles } from './harness.ts'
import { connectScene, type Scene, scene } from './scene.ts'
import { startWorker } from './started-worker.ts'

// Each test runs the CLI several times, and each run is a process that starts from nothing.
const definitions = `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
tags: { treasury: {}, engineering: {} }
policies:
  no-exports: { effect: deny, condition: activity.action == 'EXPORT' }
`

/** A scene whose watch can be asked in this process: to start a command at each look costs more than the look. */
interface Watching extends Scene {
  readonly defs: string
  readonly applies: ApplyPlace
}

/** An organization as its definitions say, with a lock that knows so. */
async function watchedScene(atEnd: (work: () => Promise<void>) => void = onTestFinished): Promise<Watching> {
  const place = await scene({ more: { QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY }, atEnd })
  const defs = writeFiles(join(place.folder, 'defs'), { 'acme.yaml': definitions })
  expect((await quorate(['apply', defs, '--yes'], place)).exit).toBe(0)
  const { client, close } = await connectScene(place.env)
  atEnd(close)
  const { organizationId } = place.service
  const dataDir = place.env['QUORATE_DATA_DIR']!
  return { ...place, defs, applies: { client, organizationId, taskQueue: taskQueueOf(organizationId), dataDir } }
}

/** Asks in this process how the organization stands, as `quorate watch list` does, until it is as wanted. */
async function until({ applies }: Pick<Watching, 'applies'>, wanted: (shown: Watched) => boolean): Promise<Watched> {
  for (let left = 300; ; left--) {
    const shown = await findWatch(applies)
    if (wanted(shown)) return shown
    if (left === 0) throw new Error(`never as wanted: ${JSON.stringify(shown)}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Has it looked at until that finds what is wanted: what was begun by the look before may be under way. */
async function look(place: Watching, wanted: (state: WatchState) => boolean = () => true): Promise<WatchState> {
  for (let left = 20; ; left--) {
    const before = (await until(place, () => true)).state?.lookedAt ?? ''
    expect((await quorate(['watch', 'run'], place)).exit).toBe(0)
    const { state } = await until(place, (shown) => (shown.state?.lookedAt ?? '') > before)
    if (wanted(state!)) return state!
    if (left === 0) throw new Error(`never as wanted: ${JSON.stringify(state)}`)
  }
}

/** The histories of the last looks replay; the first had a repair to begin, the last had nothing to do. */
async function replayLooks({ env, service }: Scene): Promise<void> {
  const temporal = await connectScene(env)
  const replayer = createReplayer(await testBundle())
  try {
    const { client, namespace } = temporal
    const scheduleId = `reconcile/${service.organizationId}`
    const { info } = await client.workflowService.describeSchedule({ namespace, scheduleId })
    const runs = (info?.recentActions ?? []).map((one) => one.startWorkflowResult!.workflowId!)
    expect(runs.length).toBeGreaterThan(2)
    for (const [index, workflowId] of runs.entries()) {
      const handle = client.workflow.getHandle(workflowId)
      await handle.result()
      const record = index === 0 ? 'reconcile-repair' : index === runs.length - 1 ? 'reconcile' : undefined
      await replayer.replayOf(handle, record)
    }
  } finally {
    await replayer.close()
    await temporal.close()
  }
}

/** The worker has registered what lists of workflows are searched by, and the server knows it. */
async function untilSearchable({ env }: Scene): Promise<void> {
  const { client, close } = await connectScene(env)
  await askUntil(
    () => whereShown(client),
    (where) => where === 'search attributes',
  )
  await close()
}

/** The repair is found at Temporal by its plan and its end. */
async function findRepair({ env, service }: Scene, planDigest: string): Promise<void> {
  const { client, close } = await connectScene(env)
  const query = `QuorateOrganization = '${service.organizationId}' and QuoratePlan = '${planDigest}' and QuorateState = 'done'`
  const { workflowId } = await askUntil(
    async () => {
      for await (const one of client.workflow.list({ query })) return one
      return undefined
    },
    (one) => one !== undefined,
  ).then((one) => one!)
  expect(workflowId).toBe(`apply/${service.organizationId}`)
  await close()
}

/** Somebody edits the policy and deletes a tag by hand. */
async function editByHand({ service }: Scene) {
  const { policies } = await service.root.query('list_policies')
  const edited = await service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', {
    policyId: policies[0]!.policyId,
    policyCondition: "activity.action == 'SIGN'",
  })
  const { userTags } = await service.root.query('list_user_tags')
  const { tagId } = userTags.find(({ tagName }) => tagName === 'treasury')!
  const deleted = await service.root.submit('ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [tagId] })
  return { edited, deleted }
}

describe('watch: report', () => {
  test('what was edited by hand is told with activity, voter and time, and nothing is submitted', async () => {
    const place = await watchedScene()
    const added = await quorate(['watch', 'add', place.defs, '--every', '1h'], place)
    expect([added.exit, added.stderr]).toEqual([0, expect.not.stringContaining('error')])
    expect(added.stdout).toContain('acme: ')
    await until(place, ({ state }) => state?.goodAt !== undefined)
    const [first] = JSON.parse((await quorate(['watch', 'list', '--json'], place)).stdout).watches
    expect(first.state).toMatchObject({ drift: [], waiting: [], sweeps: 1 })
    expect(first.nextAt).toBeDefined()

    const { edited, deleted } = await editByHand(place)
    const before = await countActivities(place.service)
    const { drift } = await look(place, ({ drift }) => drift.length > 0)
    const by = { userName: 'root', publicKey: place.service.root.publicKey, at: expect.stringMatching(/^20.*Z$/) }
    expect(drift).toEqual([
      expect.objectContaining({ address: 'tag.treasury', action: 'create', mode: 'report' }),
      expect.objectContaining({ address: 'policy.no-exports', action: 'update', mode: 'report' }),
    ])
    expect(drift.map(({ author }) => author)).toEqual([
      expect.objectContaining({ activityId: deleted.id, ...by }),
      expect.objectContaining({ activityId: edited.id, ...by }),
    ])
    // Nothing is new: what was found stays, and not all is read again.
    const again = await look(place)
    expect(again).toMatchObject({ sweeps: 2, drift })
    expect(await countActivities(place.service)).toBe(before)

    const status = await quorate(['status'], place)
    expect(status.stdout).toContain(`activity ${deleted.id}`)
    expect(status.stdout).toMatch(/last as defined: 20.*; last look: 20/)
    expect(status.stdout).toMatch(/next look at 20/)
  })

  test('drift names the activity of another person that waits and would change the same thing, until that ends', async () => {
    const place = await watchedScene()
    const bob = await createTestUser(place.service, 'bob')
    await quorate(['watch', 'add', place.defs, '--every', '1h'], place)
    await until(place, ({ state }) => state?.goodAt !== undefined)
    await editByHand(place)
    await place.service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'two',
      effect: 'EFFECT_ALLOW',
      consensus: 'approvers.count() >= 2',
      condition: "activity.resource == 'POLICY'",
      notes: '',
    })
    const found = await look(place, ({ drift }) => drift.length === 2)
    expect(found.drift.map(({ pending }) => pending)).toEqual([undefined, undefined])

    const { policies } = await place.service.root.query('list_policies')
    const { policyId } = policies.find(({ policyName }) => policyName === 'no-exports')!
    const back = { policyId, policyCondition: "activity.action == 'EXPORT'" }
    const asked = await bob.client.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', back)
    expect(asked.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const { drift } = await look(place, ({ waiting }) => waiting.length === 1)
    expect(drift.map(({ address, pending }) => [address, pending])).toEqual([
      ['tag.treasury', undefined],
      ['policy.no-exports', asked.id],
    ])
    const shown = (await quorate(['watch', 'list'], place)).stdout
    expect(shown).toMatch(new RegExp(`~ policy\\.no-exports  .* \\(report\\), asked for by activity ${asked.id}\n`))
    expect(shown).toMatch(/\+ tag\.treasury {2}.* \(report\)\n/)

    await place.service.root.reject(asked.fingerprint)
    const after = await look(place, ({ waiting }) => waiting.length === 0)
    expect(after.drift.map(({ address, pending }) => [address, pending])).toEqual([
      ['tag.treasury', undefined],
      ['policy.no-exports', undefined],
    ])
    expect((await quorate(['watch', 'list'], place)).stdout).not.toContain('asked for by')
  })
})

describe('watch: paused and resumed', () => {
  let place: Watching
  const closers: (() => Promise<void>)[] = []
  beforeAll(async () => {
    place = await watchedScene((close) => closers.push(close))
    await quorate(['watch', 'add', place.defs, '--every', '1h'], place)
  })
  afterAll(async () => {
    for (const close of closers.reverse()) await close()
  })

  test('a pause and a resume are made though looks are asked for in the same moment', async () => {
    const { applies } = place
    const pausedNow = async () => (await findWatch(applies)).paused
    // Temporal makes the last change alone of those that it finds together.
    const whileAsked = (work: Promise<void>) => Promise.all([work, runWatch(applies), runWatch(applies)])
    for (let round = 0; round < runs(4); round++) {
      await whileAsked(pauseWatch(applies, `INC-${round}`))
      expect(await pausedNow()).toBe(`INC-${round}`)
      await whileAsked(resumeWatch(applies))
      expect(await pausedNow()).toBeUndefined()
    }
  })

  test('where Temporal goes on to tell the old state, a pause is unknown and never told as made', async () => {
    const { applies } = place
    // A Temporal that takes the change and makes none.
    const deaf = vi.spyOn(applies.client.workflowService, 'patchSchedule').mockImplementation(async () => ({}) as never)
    onTestFinished(() => deaf.mockRestore())
    await expect(pauseWatch(applies, 'INC-7')).rejects.toMatchObject({
      code: 'cli/watch-unchanged',
      facts: { paused: 'unknown' },
    })
  })

  test('it is paused, looked at all the same when asked, resumed, and removed', async () => {
    await until(place, ({ state }) => state !== undefined)
    const paused = await quorate(['watch', 'pause', '--because', 'INC-7'], place)
    expect(paused.stdout).toContain('paused (INC-7)')
    await look(place)
    const resumed = await quorate(['watch', 'resume'], place)
    expect(resumed.stdout).toContain('next look at')
    expect((await quorate(['watch', 'pause'], place)).stdout).toContain('paused (no reason given)')
    expect((await quorate(['watch', 'remove'], place)).exit).toBe(0)
    expect((await quorate(['watch', 'list'], place)).stdout).toBe('Nothing is watched from here.\n')
    const gone = await quorate(['watch', 'run'], place)
    expect(gone.stderr).toContain('error cli/not-watched')
    expect(gone.exit).toBe(1)
  })
})

describe('watch: propose and repair', () => {
  test('repair puts back what is of its kinds alone; what is proposed is applied by a person', async () => {
    const place = await watchedScene()
    await untilSearchable(place)
    await editByHand(place)
    const kinds = ['--kind', 'policies=repair', '--kind', 'tags=propose']
    const added = await quorate(['watch', 'add', place.defs, '--every', '1h', ...kinds], place)
    expect(added.exit).toBe(0)
    const { state } = await until(place, ({ state }) => state?.repair?.begun === true)
    await findRepair(place, state!.repair!.planDigest)
    const { proposal, drift } = await look(place, (state) => state.drift.length === 1 && state.proposal !== undefined)
    expect(drift[0]).toMatchObject({ address: 'tag.treasury', mode: 'propose' })
    const { policies } = await place.service.root.query('list_policies')
    expect(policies[0]!.condition).toBe("activity.action == 'EXPORT'")

    expect((await quorate(['watch', 'list'], place)).stdout).toContain(`quorate apply sha256:${proposal}`)
    const applied = await quorate(['apply', `sha256:${proposal}`, '--yes'], place)
    expect([applied.exit, applied.stderr]).toEqual([0, expect.stringContaining('create tag treasury')])
    const { goodAt } = await look(place, (state) => state.drift.length === 0)
    expect(goodAt).toBeDefined()
    const planned = await quorate(['plan', place.defs, '--json'], place)
    expect(readPlan(planned.stdout).changes).toEqual([])
    await replayLooks(place)
  })

  test('another user has the proposal applied, by the worker that made it, and no other plan of that worker’s user', async () => {
    const place = await watchedScene()
    const bob = await createTestUser(place.service, 'bob')
    const asBob = {
      ...place,
      env: { ...place.env, QUORATE_API_KEY_FILE: keyFile(place.folder, 'bob', bob.privateKey) },
    }
    await untilSearchable(place)
    await editByHand(place)
    await quorate(['watch', 'add', place.defs, '--every', '1h', '--kind', 'tags=propose'], place)
    const { proposal } = await look(place, (state) => state.proposal !== undefined)
    const file = join(place.folder, 'plan.json')
    expect((await quorate(['plan', place.defs, '--out', file], place)).exit).toBe(0)
    const other = await quorate(['apply', file, '--yes'], asBob)
    expect([other.exit, other.stderr]).toEqual([1, expect.stringContaining('error cli/other-user')])

    const applied = await quorate(['apply', `sha256:${proposal}`, '--yes'], asBob)
    expect([applied.exit, applied.stderr]).toEqual([0, expect.stringContaining('create tag treasury')])
    // The same command follows it, or says how it ended, when it is a proposal no more.
    await look(place, (state) => state.proposal === undefined)
    const again = await quorate(['apply', `sha256:${proposal}`, '--yes'], asBob)
    expect([again.exit, again.stderr]).toEqual([0, expect.not.stringContaining('error')])
    const { activities } = await place.service.root.query('list_activities', { paginationOptions: { limit: '100' } })
    const made = activities.filter(({ type }) => type === 'ACTIVITY_TYPE_CREATE_USER_TAG')
    expect(new Set(made.flatMap(({ votes }) => votes.map(({ userId }) => userId)))).toEqual(
      new Set([place.service.rootUserId]),
    )
  })

  test('a worker with the key of another user submits nothing of a plan, says so, and one with the right key goes on', async () => {
    const place = await watchedScene()
    const bob = await createTestUser(place.service, 'bob')
    const before = await countActivities(place.service)
    await place.stopWorker()
    const worker = await startWorker({
      ...place.env,
      QUORATE_API_KEY_FILE: keyFile(place.folder, 'bob', bob.privateKey),
    })
    writeFiles(place.defs, { 'acme.yaml': definitions.replace('EXPORT', 'SIGN') })
    const waiting = await quorate(['apply', place.defs, '--yes', '--wait', '15s'], place)
    expect(waiting.stderr).toContain("the plan was made for root, and this worker has bob's key")
    expect(await countActivities(place.service)).toBe(before)
    await worker.kill()
    await place.startWorker()
    expect((await quorate(['apply', place.defs, '--yes'], place)).exit).toBe(0)
    expect(await countActivities(place.service)).toBe(before + 1)
  })

  test('a worker that is killed in a look delays it, and what is repaired is repaired once', async () => {
    const place = await watchedScene()
    const [policy] = (await place.service.root.query('list_policies')).policies
    const edit = { policyId: policy!.policyId, policyCondition: "activity.action == 'SIGN'" }
    await place.service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', edit)
    await place.stopWorker()
    const worker = await startWorker(place.env)
    await quorate(['watch', 'add', place.defs, '--every', '1h', '--kind', 'policies=repair'], place)
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 300))
    await worker.kill()
    await place.startWorker()
    await look(place, ({ drift, goodAt }) => drift.length === 0 && goodAt !== undefined)
    const { activities } = await place.service.root.query('list_activities', { paginationOptions: { limit: '100' } })
    expect(activities.filter(({ type }) => type.startsWith('ACTIVITY_TYPE_UPDATE_POLICY'))).toHaveLength(2)
  })

  test('what somebody changes again after each repair is held until a person resumes it', async () => {
    const place = await watchedScene()
    await quorate(['watch', 'add', place.defs, '--every', '1h', '--kind', 'policies=repair'], place)
    await until(place, ({ state }) => state?.goodAt !== undefined)
    const [policy] = (await place.service.root.query('list_policies')).policies
    const change = (value: number) =>
      place.service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', {
        policyId: policy!.policyId,
        policyCondition: `wallet.id == '${value}'`,
      })
    for (const value of [1, 2, 3]) {
      await change(value)
      // A repair that has begun may have ended before another look: then the state speaks of it no more.
      await look(place, ({ repair }) => repair !== undefined)
      await until(place, ({ state }) => state?.repair?.begun === true)
      await look(place, ({ drift }) => drift.length === 0)
    }
    await change(4)
    const { held } = await look(place, (state) => state.held !== undefined)
    expect(held).toMatchObject({ code: 'apply/heal-loop', why: expect.stringContaining('policy.no-exports') })
    const before = await countActivities(place.service)
    await look(place)
    expect(await countActivities(place.service)).toBe(before)
    expect((await quorate(['status'], place)).stdout).toContain('(apply/heal-loop); go on with `quorate watch resume`')

    await quorate(['watch', 'resume'], place)
    await until(place, ({ state }) => state?.repair?.begun === true && state.held === undefined)
    await look(place, ({ drift }) => drift.length === 0)
  })
})
