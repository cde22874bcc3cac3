/** People are told what a look has found: real receivers on loopback, and a clock that the test moves. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type Activities,
  type ApplyProgress,
  createActivities,
  createPlanStore,
  type PlanStore,
  type RunningRotation,
  type SendProgress,
  type Watch,
} from '../../activities/index.ts'
import { isQuiet } from '../../activities/notices.ts'
import { NOTICE_TOPICS, type NoticeSink } from '../../src/definitions/index.ts'
import { writePrivate } from '../../src/local/index.ts'
import { digestOf, type Plan } from '../../src/plan/index.ts'
import { silentLogger } from '../../src/telemetry/index.ts'
import { testFolder } from '../cli/harness.ts'
import { makeTagPlan } from '../workflows/tag-plan.ts'
import { orderOf } from './order.ts'

const ORGANIZATION = '10000000-0000-4000-8000-000000000001'
const MINUTE = 60_000
const START = Date.parse('2026-01-01T12:00:00Z')
const KEY = 'a-key-of-the-receiver-and-of-nobody-else'
const PATH = '/services/T000/B000/canary-of-the-url'

interface Arrived {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

let world: {
  nowMs: number
  drift: readonly string[]
  activities: object[]
  fails: boolean
  apply: ApplyProgress | undefined
  sends: readonly SendProgress[]
  rotations: readonly RunningRotation[]
}
let store: PlanStore
let steps: Activities
let environment: Record<string, string>
let logged: unknown[]
let receiver: { readonly server: Server; readonly arrived: Arrived[]; status: number }

function planNow(): Plan {
  const plan = makeTagPlan(
    ORGANIZATION,
    'http://127.0.0.1:1',
    world.drift.map((name) => ({ name })),
  )
  const changes = world.drift.map((name) => ({
    ...{ address: `tag.${name}`, kind: 'tag', action: 'create', cause: 'live changed', fields: [] },
    ...{ batch: 0, author: null },
  })) as unknown as Plan['changes']
  const whole: Plan = { ...plan, changes, createdAt: new Date(world.nowMs).toISOString() }
  return { ...whole, digest: digestOf(whole) }
}

beforeEach(async () => {
  const arrived: Arrived[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    arrived.push({ headers: request.headers, body: Buffer.concat(parts).toString() })
    response.writeHead(receiver.status, { location: 'http://127.0.0.1:1/' }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  receiver = { server, arrived, status: 200 }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`
  environment = { QUORATE_NOTIFY_OPS: url, QUORATE_NOTIFY_OPS_KEY: KEY }
  logged = []
  world = { nowMs: START, drift: [], activities: [], fails: false, apply: undefined, sends: [], rotations: [] }
  store = createPlanStore(join(testFolder(), 'plans'))
  const log = (...parts: unknown[]) => logged.push(parts)
  steps = createActivities({
    clientFor: () =>
      ({
        publicKey: '02ab',
        query: async (_: string, { filterByStatus }: { readonly filterByStatus: readonly string[] }) => {
          if (world.fails) throw new Error('the connection broke')
          return { activities: filterByStatus.length > 0 ? world.activities : [] }
        },
      }) as never,
    planStore: store,
    clock: () => world.nowMs,
    logger: { ...silentLogger, warn: log, info: log },
    planWatched: async ({ lock }) => ({
      plan: planNow(),
      lock: () => lock,
      vouched: {},
      settings: { modes: {} },
      assertApplicable: () => {},
    }),
    progressOfApply: async () => world.apply,
    progressOfSends: async () => world.sends,
    progressOfRotations: async () => world.rotations,
    noticeEnvironment: environment,
  })
})
afterEach(() => new Promise((resolve) => receiver.server.close(resolve)))

async function watch(...notify: readonly (Partial<NoticeSink> & Pick<NoticeSink, 'kind'>)[]): Promise<void> {
  const empty = { format: 'quorate.definitions/1', folder: '.', folders: {}, files: {} } as const
  const sinks = notify.map((one, index): NoticeSink => {
    return { name: `sink${index}`, to: 'QUORATE_NOTIFY_OPS', about: NOTICE_TOPICS, ...one }
  })
  const made: Watch = {
    ...{ organizationId: ORGANIZATION, organization: 'a<c>me & co', baseUrl: '', modes: {}, since: '' },
    // Each look reads all of it.
    ...{ given: { env: {}, vars: {} }, everyMs: MINUTE, sweepMs: 1, notify: sinks },
    definitions: await store.watches.putDefinitions(empty),
  }
  await store.watches.put(made)
}
/** A look, so long after the one before. */
async function look(afterMs = MINUTE): Promise<void> {
  world.nowMs += afterMs
  await steps.lookAround({ organizationId: ORGANIZATION })
}
const states = async () => (await store.watches.noticesOf(ORGANIZATION))!.sinks
const textAt = (index: number) => JSON.parse(receiver.arrived[index]!.body).text as string

/** An activity that waits, approved by alice so many hours ago. */
function waitingActivity(hoursAgo: number, userId = 'a'): object {
  const at = { seconds: String(Math.floor(world.nowMs / 1000) - hoursAgo * 3600), nanos: '0' }
  return {
    ...{ id: 'b0000000-0000-4000-8000-00000000000b', type: 'ACTIVITY_TYPE_CREATE_POLICY_V3' },
    ...{ fingerprint: 'sha256:abcdef0123', status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', intent: {} },
    ...{ createdAt: at, updatedAt: at },
    votes: [
      {
        ...{ userId, publicKey: '02cd', selection: 'VOTE_SELECTION_APPROVED', createdAt: at },
        user: { userName: 'alice' },
      },
    ],
  }
}

describe('a message', () => {
  test('tells of drift once, also over many looks, and again when somebody does it again later', async () => {
    await watch({ kind: 'slack' })
    await look()
    expect(receiver.arrived).toEqual([])
    world.drift = ['treasury', 'engineering']
    await look()
    for (let looks = 0; looks < 5; looks++) await look()
    expect(receiver.arrived).toHaveLength(1)
    expect(textAt(0)).toContain(
      '• drift: tag.treasury is not as defined since 2026-01-01T12:02:00.000Z: somebody deleted it',
    )
    expect(textAt(0)).toContain('tag.engineering is')
    expect(textAt(0)).toMatch(/^a&lt;c&gt;me &amp; co: drift\n/)
    world.drift = []
    await look()
    world.drift = ['treasury']
    await look(2 * 60 * MINUTE)
    expect(receiver.arrived).toHaveLength(2)
  })

  test('is signed so that its receiver can check it, and has the same id when it is sent again', async () => {
    await watch({ kind: 'webhook' })
    world.drift = ['treasury']
    receiver.status = 503
    await look()
    expect((await states())['sink0']!.failing).toMatchObject({ times: 1, why: 'the receiver answered 503' })
    receiver.status = 204
    await look()
    const ids = receiver.arrived.map(({ headers }) => headers['webhook-id'])
    expect(ids).toEqual([ids[0], ids[0]])
    expect((await states())['sink0']!.failing).toBeUndefined()
    for (const { headers, body } of receiver.arrived) {
      const [id, seconds] = [headers['webhook-id'], headers['webhook-timestamp']]
      const mac = createHmac('sha256', KEY).update(`${id}.${seconds}.${body}`).digest('base64')
      expect(headers['webhook-signature']).toBe(`v1,${mac}`)
    }
    expect(JSON.parse(receiver.arrived[1]!.body)).toMatchObject({
      type: 'quorate.notice',
      data: { organization: 'a<c>me & co', organizationId: ORGANIZATION, notices: [{ topic: 'drift' }] },
    })
  })

  test('that does not arrive is tried again less and less often, and no other sink waits for it', async () => {
    await watch({ kind: 'slack', to: 'QUORATE_NOTIFY_AWAY' }, { kind: 'slack' })
    environment['QUORATE_NOTIFY_AWAY'] = environment['QUORATE_NOTIFY_OPS']!.replace(/:\d+/, ':1')
    world.drift = ['treasury']
    for (let looks = 0; looks < 30; looks++) await look()
    const { sink0, sink1 } = await states()
    expect(sink0!.failing).toMatchObject({
      why: 'the receiver could not be reached',
      since: '2026-01-01T12:01:00.000Z',
    })
    expect(sink0!.failing!.times).toBeGreaterThan(3)
    expect(sink0!.failing!.times).toBeLessThan(10)
    expect(sink1!.failing).toBeUndefined()
    expect(receiver.arrived).toHaveLength(1)
  })

  test('does not follow its receiver elsewhere, and its URL and key stand nowhere', async () => {
    await watch({ kind: 'webhook' }, { kind: 'slack', to: 'QUORATE_NOTIFY_NONE' })
    world.drift = ['treasury']
    receiver.status = 307
    await look()
    const kept = JSON.stringify([await states(), logged, await store.watches.get(ORGANIZATION)])
    expect(kept).toContain('the receiver answered 307')
    expect(kept).toContain('the worker has no variable QUORATE_NOTIFY_NONE')
    for (const secret of [KEY, 'canary-of-the-url']) {
      expect(kept).not.toContain(secret)
      expect(receiver.arrived[0]!.body).not.toContain(secret)
    }
  })

  test('takes its URL from a private file', async () => {
    const path = join(testFolder(), 'url')
    writePrivate(path, `${environment['QUORATE_NOTIFY_OPS']}\n`)
    delete environment['QUORATE_NOTIFY_OPS']
    environment['QUORATE_NOTIFY_OPS_FILE'] = path
    await watch({ kind: 'slack' })
    world.drift = ['treasury']
    await look()
    expect(receiver.arrived).toHaveLength(1)
  })

  test('waits for the end of quiet hours, and is not sent when all is well by then', async () => {
    await watch({ kind: 'slack', quiet: { from: '12:00', to: '14:00', zone: 'UTC' } })
    world.drift = ['treasury', 'engineering']
    await look()
    world.drift = ['engineering']
    await look()
    expect(receiver.arrived).toEqual([])
    await look(2 * 60 * MINUTE)
    expect(receiver.arrived).toHaveLength(1)
    expect(textAt(0)).toContain('tag.engineering')
    expect(textAt(0)).not.toContain('tag.treasury')
  })

  test.each([
    { hours: '22:00 to 07:00', at: '2026-01-15T23:30:00Z', zone: 'UTC', quiet: true },
    { hours: '22:00 to 07:00', at: '2026-01-15T06:59:00Z', zone: 'UTC', quiet: true },
    { hours: '22:00 to 07:00', at: '2026-01-15T07:00:00Z', zone: 'UTC', quiet: false },
    { hours: '22:00 to 07:00', at: '2026-01-15T21:30:00Z', zone: 'Europe/Berlin', quiet: true },
    { hours: '22:00 to 07:00', at: '2026-07-15T05:30:00Z', zone: 'Europe/Berlin', quiet: false },
    { hours: '09:00 to 10:00', at: '2026-01-15T08:59:00Z', zone: 'UTC', quiet: false },
  ])('quiet from $hours in $zone: at $at $quiet', ({ hours, at, zone, quiet }) => {
    const [from, to] = hours.split(' to ') as [string, string]
    expect(isQuiet({ from, to, zone }, Date.parse(at))).toBe(quiet)
  })

  test('goes by e-mail too', async () => {
    const mails: ParsedMail[] = []
    const server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _, done) =>
        username === 'me' && password === 'p@ss' ? done(null, { user: username }) : done(new Error('no')),
      onData: (stream, _, done) => {
        simpleParser(stream).then((mail) => {
          mails.push(mail)
          done()
        }, done)
      },
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.server.address() as AddressInfo
      environment['QUORATE_NOTIFY_SMTP'] = `smtp://me:p%40ss@127.0.0.1:${port}`
      environment['QUORATE_NOTIFY_FROM'] = 'quorate@acme.example'
      await watch({ kind: 'email', to: 'oncall@acme.example' })
      world.drift = ['treasury']
      await look()
      expect((await states())['sink0']!.failing).toBeUndefined()
      expect(mails[0]).toMatchObject({
        subject: 'a<c>me & co: drift',
        text: expect.stringContaining('tag.treasury is not'),
      })
      expect(mails[0]!.messageId).toMatch(/^<msg_[0-9a-f]{32}@acme\.example>$/)
    } finally {
      await new Promise<void>((resolve) => server.close(resolve))
    }
  })
})

describe('an audience', () => {
  test('is told what waits for it: not of what it has approved, until that approval counts no more', async () => {
    await watch(
      { kind: 'slack', user: 'alice', about: ['waiting', 'lapsed'] },
      { kind: 'slack', user: 'bob', about: ['waiting'] },
    )
    await store.watches.putLock(ORGANIZATION, { [ORGANIZATION]: { 'user.alice': { id: 'a' } } })
    world.activities = [waitingActivity(0)]
    await look()
    expect(receiver.arrived).toHaveLength(1)
    expect(textAt(0)).toContain('• waiting: CREATE_POLICY_V3 abcd-ef01 waits for approval since')
    expect(textAt(0)).toContain('approved by alice')
    await look(25 * 60 * MINUTE)
    // Alice hears of both; bob was told before.
    expect(receiver.arrived).toHaveLength(2)
    expect(textAt(1)).toContain('• lapsed: approvals of CREATE_POLICY_V3 abcd-ef01 count no more: alice')
    expect(textAt(1)).toContain('approved by nobody')
    await look()
    expect(receiver.arrived).toHaveLength(2)
  })

  test('is the user of its definitions: not another one who bears the name and approves', async () => {
    await watch({ kind: 'slack', user: 'alice', about: ['waiting'] }, { kind: 'slack', user: 'a', about: ['waiting'] })
    await store.watches.putLock(ORGANIZATION, { [ORGANIZATION]: { 'user.alice': { id: 'a' } } })
    world.activities = [waitingActivity(0, 'mallory')]
    await look()
    expect(receiver.arrived).toHaveLength(2)
    world.activities = [{ ...waitingActivity(0), id: 'c0000000-0000-4000-8000-00000000000c' }]
    await look()
    expect(receiver.arrived).toHaveLength(2)
  })

  test('is told after any approval while nobody has said who its user is', async () => {
    await watch({ kind: 'slack', user: 'alice', about: ['waiting'] })
    world.activities = [waitingActivity(0)]
    await look()
    expect(receiver.arrived).toHaveLength(1)
  })

  test('hears that looks fail when the second look fails as well, and that an apply cannot go on', async () => {
    await watch({ kind: 'slack', about: ['stuck'] })
    await look()
    world.fails = true
    await look()
    await look()
    expect(receiver.arrived).toEqual([])
    await look()
    expect(receiver.arrived).toHaveLength(1)
    expect(textAt(0)).toContain('• stuck: looks fail since 2026-01-01T12:02:00.000Z')
    world.fails = false
    const error = { code: 'client/unreachable', message: 'the API does not answer' }
    const startedAt = '2026-01-01T12:00:00.000Z'
    world.apply = { planDigest: 'ab'.repeat(32), state: 'running', startedAt, batches: [], error } as ApplyProgress
    for (let looks = 0; looks < 4; looks++) await look()
    expect(receiver.arrived).toHaveLength(2)
    expect(textAt(1)).toContain('the apply of plan abababababab cannot go on: the API does not answer')
  })

  test('hears once of a send that is stuck: by what it waits for, or because half an hour brings nothing', async () => {
    await watch({ kind: 'slack', about: ['stuck'] }, { kind: 'slack', about: ['drift'] })
    const organization = { name: 'acme', id: ORGANIZATION, baseUrl: 'http://127.0.0.1:1' }
    const ids = await Promise.all(
      ['INV-1', 'INV-2', 'INV-3'].map(
        async (one) => (await store.sends.enter({ ...orderOf(one), organization })).sendId,
      ),
    )
    const error = { code: 'apply/transaction-waits', message: 'the node does not answer' }
    // What a history says of the reference is not believed, and of what is in no ledger nothing is.
    world.sends = [
      { sendId: ids[0]!, reference: 'forged', state: 'broadcasting', error },
      { sendId: ids[1]!, reference: 'INV-2', state: 'broadcasting' },
      { sendId: ids[2]!, reference: 'INV-3', state: 'waiting' },
      { sendId: 'of nobody', reference: 'forged', state: 'broadcasting', error },
    ]
    for (let looks = 0; looks < 10; looks++) await look()
    expect(receiver.arrived).toHaveLength(1)
    expect(textAt(0)).toContain(
      '• stuck: the send `INV-1` is broadcasting and cannot go on: the node does not answer (apply/transaction-waits); see it with `quorate sends`',
    )
    expect(textAt(0)).not.toMatch(/INV-2|INV-3|forged/)
    for (let looks = 0; looks < 40; looks++) await look()
    expect(receiver.arrived).toHaveLength(2)
    expect(textAt(1)).toContain('• stuck: the send `INV-2` is broadcasting for half an hour and more')
    world.sends = []
    await look(2 * 60 * MINUTE)
    world.sends = [{ sendId: ids[0]!, reference: 'INV-1', state: 'broadcasting', error }]
    for (let looks = 0; looks < 5; looks++) await look()
    expect(receiver.arrived).toHaveLength(3)
  })

  test('hears once of a rotation that is stuck, never of one in its overlap or that waits for people', async () => {
    await watch({ kind: 'slack', about: ['stuck'] }, { kind: 'slack', about: ['drift'] })
    const organization = { name: 'acme', id: ORGANIZATION, baseUrl: 'http://127.0.0.1:1' }
    const key = { id: 'k', name: 'ci-key', publicKey: '02ab' }
    const [refused, idle, overlap, ended, elsewhere] = ['refused', 'idle', 'overlap', 'ended', 'elsewhere']
    for (const rotationId of [refused, idle, overlap, ended, elsewhere] as string[]) {
      const id = rotationId === elsewhere ? '20000000-0000-4000-8000-000000000002' : ORGANIZATION
      await store.rotations.enter({
        ...{ rotationId, organization: { ...organization, id }, user: { id: 'u', name: 'ci' }, key, overlapMs: 1 },
        ...{ sink: { kind: 'command', command: 'true' }, orderedAt: new Date(START).toISOString() },
      })
    }
    const error = { code: 'apply/other-user', message: "this worker has bob's key" }
    const common = { user: 'forged', key: 'forged', old: { id: 'k', publicKey: '02ab' }, activities: {}, startedAt: '' }
    const of = (rotationId: string, more: Partial<RunningRotation>) =>
      ({ ...common, rotationId, state: 'creating', ...more }) as RunningRotation
    world.rotations = [
      of('refused', { error }),
      of('idle', { state: 'handing over' }),
      of('overlap', { state: 'overlap' }),
      of('ended', { state: 'overlap', end: 'terminated' }),
      of('elsewhere', { error }),
    ]
    for (let looks = 0; looks < 10; looks++) await look()
    expect(receiver.arrived).toHaveLength(1)
    const first = textAt(0)
    expect(first).toContain(
      "• stuck: the rotation of the key `ci-key` of ci is creating and cannot go on: this worker has bob's key (apply/other-user); see it with `quorate status`",
    )
    expect(first).toContain('is in its overlap, and was terminated at Temporal: nobody carries it out')
    expect(first.match(/stuck: the rotation/g)).toHaveLength(2)
    expect(first).not.toContain('forged')
    for (let looks = 0; looks < 40; looks++) await look()
    expect(receiver.arrived).toHaveLength(2)
    expect(textAt(1)).toContain('of ci is handing over for half an hour and more')
  })

  test.each([
    ['failed', 'failed at'],
    ['partial', 'ended in part, with the new key in use, at'],
  ] as const)('hears once that a rotation has %s, from the look after it', async (state, how) => {
    await watch({ kind: 'slack', about: ['failed'] }, { kind: 'webhook', about: ['drift'] })
    const rotationId = `rotation${state}`
    await store.rotations.enter({
      ...{ rotationId, organization: { name: 'acme', id: ORGANIZATION, baseUrl: 'http://127.0.0.1:1' } },
      ...{ user: { id: 'u', name: 'ci' }, key: { id: 'k', name: 'ci-key', publicKey: '02ab' }, overlapMs: 1 },
      ...{ sink: { kind: 'command', command: 'true' }, orderedAt: new Date(START).toISOString() },
    })
    const error = {
      code: 'rotate/sink-failed',
      message: 'the command failed: it ended with status 3\u001b[2J',
    } as never
    const old = { id: 'k', publicKey: '02ab' }
    const names = { user: 'forged', key: 'forged' }
    const progress = { ...names, rotationId, state, old, activities: {}, startedAt: '2026-01-01T12:00:00.000Z', error }
    await steps.recordRotation({ progress })
    for (let looks = 0; looks < 3; looks++) await look()
    expect(receiver.arrived).toHaveLength(1)
    expect(textAt(0)).toContain(`• failed: the rotation of the key \`ci-key\` of ci ${how}`)
    expect(textAt(0)).toContain('it ended with status 3')
    expect(textAt(0)).not.toContain('\u001b')
    expect(textAt(0)).not.toContain('forged')
    expect(await store.watches.noticeEvents(ORGANIZATION)).toEqual({})
  })

  test.each(['failed', 'rejected'] as const)(
    'hears once that an apply has %s, from the look after it',
    async (state) => {
      await watch({ kind: 'slack', about: [state] }, { kind: 'webhook', about: ['drift'] })
      world.drift = ['treasury']
      const plan = planNow()
      await store.putPlan(plan)
      const run = await store.runs.open(plan.digest)
      const outcome: ApplyProgress = {
        ...{ planDigest: plan.digest, state, startedAt: '2026-01-01T12:00:00.000Z', batches: [] },
        error: { code: 'apply/activity-failed', message: 'no such tag: \u001b[2J' } as never,
      }
      await steps.recordOutcome({ run, outcome })
      world.drift = []
      for (let looks = 0; looks < 3; looks++) await look()
      expect(receiver.arrived).toHaveLength(1)
      expect(textAt(0)).toContain(
        `• ${state}: the apply of plan ${plan.digest.slice(0, 12)} ${state === 'failed' ? 'failed' : 'was rejected'} at`,
      )
      expect(textAt(0)).toContain('no such tag')
      expect(textAt(0)).not.toContain('\u001b')
      expect(await store.watches.noticeEvents(ORGANIZATION)).toEqual({})
    },
  )
})
