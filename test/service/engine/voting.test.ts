import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import type { Wire } from '../../../src/protocol/index.ts'
import {
  createTestClock,
  createTestUser,
  startTestService,
  type TestBody,
  type TestClient,
  type TestService,
  type TestUser,
} from '../harness.ts'

const HOUR = 3_600_000
const clock = createTestClock()
let service: TestService
let bob: TestUser
let alice: TestUser
let carol: TestUser
let outsider: TestUser
let members: Record<'alice' | 'bob' | 'carol', TestClient>

beforeAll(async () => {
  service = await startTestService({ clock })
  alice = await createTestUser(service, 'alice')
  bob = await createTestUser(service, 'bob')
  carol = await createTestUser(service, 'carol')
  outsider = await createTestUser(service, 'outsider')
  members = { alice: alice.client, bob: bob.client, carol: carol.client }
  const userIds = [alice.userId, bob.userId, carol.userId]
  const done = await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  expect(done.status).toBe('ACTIVITY_STATUS_COMPLETED')
})
afterAll(() => service.close())

let tags = 0
const newTag = (): TestBody =>
  service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `tag-${tags++}`, userIds: [] })
const read = async (client: TestClient, activityId: string): Promise<Wire.Activity> =>
  (await client.query('get_activity', { activityId })).activity
const NEEDED = 'ACTIVITY_STATUS_CONSENSUS_NEEDED'
const COMPLETED = 'ACTIVITY_STATUS_COMPLETED'
const REJECTED = 'ACTIVITY_STATUS_REJECTED'

describe('voting', () => {
  test('voting: a second of a quorum of two of three completes the activity, in any order', async () => {
    for (const [first, second] of [
      ['alice', 'bob'],
      ['alice', 'carol'],
      ['bob', 'alice'],
      ['bob', 'carol'],
      ['carol', 'alice'],
      ['carol', 'bob'],
    ] as const) {
      const waiting = await members[first].send(newTag())
      expect(waiting).toMatchObject({ status: NEEDED, canApprove: false, canReject: true })
      expect(waiting.result).toMatchObject({ activity: { id: waiting.id, result: {} } })
      const done = await members[second].approve(waiting.fingerprint)
      expect(done).toMatchObject({ id: waiting.id, status: COMPLETED, type: 'ACTIVITY_TYPE_CREATE_USER_TAG' })
      expect(done.votes.map(({ selection }) => selection)).toEqual([
        'VOTE_SELECTION_APPROVED',
        'VOTE_SELECTION_APPROVED',
      ])
      expect(done.result.createUserTagResult?.userTagId).toBeTypeOf('string')
    }
  })

  test("voting: another user's same bytes are that user's approval", async () => {
    const body = newTag()
    const waiting = await members.alice.send(body)
    const done = await members.bob.send(body)
    expect(done).toMatchObject({ id: waiting.id, status: COMPLETED })
    expect(done.votes.map(({ userId }) => userId)).toEqual([alice.userId, bob.userId])
    expect(done.votes.map(({ message }) => message)).toEqual([body.text, body.text])
  })

  test('voting: the same bytes of all at once are one activity, executed once', async () => {
    const before = (await members.alice.query('list_user_tags')).userTags.length
    const body = newTag()
    const sent = await Promise.all(Object.values(members).flatMap((member) => [member.send(body), member.send(body)]))
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1)
    const activity = await read(members.alice, sent[0]!.id)
    expect(activity.status).toBe(COMPLETED)
    expect(activity.votes).toHaveLength(2)
    expect((await members.alice.query('list_user_tags')).userTags).toHaveLength(before + 1)
  })

  test('voting: a user counts once, however often and with whichever body it approves', async () => {
    const body = newTag()
    const waiting = await members.alice.send(body)
    await members.alice.approve(waiting.fingerprint)
    await members.alice.approve(waiting.fingerprint)
    const still = await members.alice.send(body)
    expect(still).toMatchObject({ status: NEEDED })
    expect(still.votes).toHaveLength(1)
  })

  test('voting: who is neither in the quorum nor in a consensus may neither approve nor reject, and sees so', async () => {
    const body = newTag()
    const waiting = await members.alice.send(body)
    const { fingerprint } = waiting
    for (const attempt of [
      () => outsider.client.approve(fingerprint),
      () => outsider.client.reject(fingerprint),
      () => outsider.client.send(body),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ status: 403, body: { code: 7 } })
    }
    const rights = async (client: TestClient) => {
      const { canApprove, canReject } = await read(client, waiting.id)
      return { canApprove, canReject }
    }
    expect(await rights(outsider.client)).toEqual({ canApprove: false, canReject: false })
    expect(await rights(members.alice)).toEqual({ canApprove: false, canReject: true })
    expect(await rights(members.bob)).toEqual({ canApprove: true, canReject: true })
    expect((await read(members.bob, waiting.id)).votes).toHaveLength(1)
  })

  test('voting: one rejection is final, also by the submitter', async () => {
    for (const rejecting of [members.bob, members.alice]) {
      const waiting = await members.alice.send(newTag())
      const rejected = await rejecting.reject(waiting.fingerprint)
      expect(rejected).toMatchObject({ id: waiting.id, status: REJECTED, canApprove: false, canReject: false })
      expect(rejected.result).toMatchObject({ activity: { result: {} } })
      expect(rejected.votes.at(-1)).toMatchObject({ selection: 'VOTE_SELECTION_REJECTED' })
      expect(await members.carol.approve(waiting.fingerprint)).toMatchObject({ status: REJECTED })
      await expect(members.carol.reject(waiting.fingerprint)).rejects.toMatchObject({ status: 400, body: { code: 3 } })
    }
  })

  test('voting: approvals lapse after 24 hours, the activity stays, and the next approval opens a new window', async () => {
    const waiting = await members.alice.send(newTag())
    clock.advance(24 * HOUR - 1)
    expect(await read(members.alice, waiting.id)).toMatchObject({ status: NEEDED, canApprove: false })
    clock.advance(1)
    expect(await read(members.alice, waiting.id)).toMatchObject({ status: NEEDED, canApprove: true })
    expect(await members.bob.approve(waiting.fingerprint)).toMatchObject({ status: NEEDED })
    clock.advance(24 * HOUR - 1)
    const done = await members.alice.approve(waiting.fingerprint)
    expect(done.status).toBe(COMPLETED)
    expect(done.votes.map(({ userId }) => userId)).toEqual([alice.userId, bob.userId, alice.userId])
  })

  test('voting: an approval inside the window completes at its last millisecond', async () => {
    const waiting = await members.alice.send(newTag())
    clock.advance(24 * HOUR - 1)
    expect(await members.bob.approve(waiting.fingerprint)).toMatchObject({ status: COMPLETED })
  })

  test('voting: the bytes of a vote cannot be replayed once it has lapsed', async () => {
    const waiting = await members.alice.send(newTag())
    const { fingerprint } = waiting
    const vote = service.body('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint })
    clock.advance(25 * HOUR)
    await expect(members.bob.send(vote)).rejects.toMatchObject({ body: { turnkeyErrorCode: 'INVALID_TIME' } })
    const fresh = service.body('ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint })
    await members.bob.send(fresh)
    clock.advance(25 * HOUR)
    const replayed = await members.bob.send(fresh)
    expect(replayed).toMatchObject({ status: NEEDED })
    expect(replayed.votes).toHaveLength(2)
  })

  test('voting: an unknown fingerprint is not found, in the words that clients look for', async () => {
    await expect(members.alice.approve(`sha256:${'0'.repeat(64)}`)).rejects.toMatchObject({
      status: 404,
      body: {
        code: 5,
        message:
          'No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint',
      },
    })
  })

  test('voting: an old vote body is refused like any other', async () => {
    const { fingerprint } = await members.alice.send(newTag())
    const timestampMs = clock() - HOUR - 1
    await expect(members.bob.approve(fingerprint, { timestampMs })).rejects.toMatchObject({
      body: { turnkeyErrorCode: 'INVALID_TIME' },
    })
  })

  test('voting: what has become impossible while it waited is recorded as failed', async () => {
    const policy = (policyName: string) =>
      service.body('ACTIVITY_TYPE_CREATE_POLICY_V3', {
        policyName,
        effect: 'EFFECT_ALLOW',
        condition: 'true',
        consensus: 'false',
        notes: '',
      })
    const first = await members.alice.send(policy('same name'))
    const second = await members.alice.send(policy('same name'))
    expect(await members.bob.approve(first.fingerprint)).toMatchObject({ status: COMPLETED })
    const failed = await members.bob.approve(second.fingerprint)
    expect(failed).toMatchObject({ status: 'ACTIVITY_STATUS_FAILED', failure: { code: 3 } })
    expect(failed.failure?.message).toContain('policy label must be unique')
    expect(failed.votes).toHaveLength(2)
  })

  test('voting: a key that is deleted takes its pending approval away', async () => {
    const dora = await createMember('dora')
    const waiting = await dora.client.send(newTag())
    const user = (await members.alice.query('get_user', { userId: dora.userId })).user
    const used = user.apiKeys.find(({ credential }) => credential.publicKey === dora.client.publicKey)
    const apiKeyIds = [used!.apiKeyId]
    const deletion = await members.alice.submit('ACTIVITY_TYPE_DELETE_API_KEYS', { userId: dora.userId, apiKeyIds })
    const deleted = await members.bob.approve(deletion.fingerprint)
    expect(deleted.status).toBe(COMPLETED)
    expect(await members.bob.approve(waiting.fingerprint)).toMatchObject({ status: NEEDED })
    expect(await members.alice.approve(waiting.fingerprint)).toMatchObject({ status: COMPLETED })
    await setQuorum([alice.userId, bob.userId, carol.userId])
  })

  test('voting: policies, tags and quorum count as they are at each vote', async () => {
    const waiting = await members.alice.send(newTag())
    await setQuorum([bob.userId, carol.userId])
    expect(await members.bob.approve(waiting.fingerprint)).toMatchObject({ status: NEEDED })
    expect(await members.carol.approve(waiting.fingerprint)).toMatchObject({ status: COMPLETED })
    await setQuorum([alice.userId, bob.userId, carol.userId])
  })
})

async function setQuorum(userIds: string[]): Promise<void> {
  const proposed = await members.bob.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  expect(await members.carol.approve(proposed.fingerprint)).toMatchObject({ status: COMPLETED })
}

/** Makes a user by the quorum of two, with two keys so that one can be deleted, and adds it to the quorum. */
async function createMember(userName: string): Promise<TestUser> {
  const keys = [generateP256KeyPair(), generateP256KeyPair()]
  const proposed = await members.alice.submit('ACTIVITY_TYPE_CREATE_USERS_V3', {
    users: [
      {
        userName,
        apiKeys: keys.map(({ publicKey }, i) => ({
          apiKeyName: `key-${i}`,
          publicKey,
          curveType: 'API_KEY_CURVE_P256',
        })),
        authenticators: [],
        oauthProviders: [],
        userTags: [],
      },
    ],
  })
  const made = await members.bob.approve(proposed.fingerprint)
  const userId = made.result.createUsersResult!.userIds[0]!
  await setQuorum([alice.userId, bob.userId, carol.userId, userId])
  return { userId, client: service.client(keys[0]!.privateKey) }
}

/** What the votes of a quorum of two of three come to, written down a second time and as plainly as can be. */
class Model {
  approvals: string[]
  readonly everVoted: Set<string>
  status = NEEDED
  lapsed = false

  constructor(submitter: string) {
    this.approvals = [submitter]
    this.everVoted = new Set([submitter])
  }

  lapse(): number {
    this.lapsed = true
    return 200
  }

  approve(user: string): number {
    if (this.status !== NEEDED) return 200
    if (user === 'outsider') return 403
    if (this.lapsed) this.approvals = []
    else if (this.approvals.includes(user)) return 200
    this.lapsed = false
    this.approvals.push(user)
    this.everVoted.add(user)
    if (this.approvals.length >= 2) this.status = COMPLETED
    return 200
  }

  resend(user: string): number {
    return this.everVoted.has(user) ? 200 : this.approve(user)
  }

  reject(user: string): number {
    if (this.status !== NEEDED) return 400
    if (user === 'outsider') return 403
    this.status = REJECTED
    this.everVoted.add(user)
    return 200
  }
}

describe('voting, against a model', () => {
  const user = fc.constantFrom('alice', 'bob', 'carol', 'outsider')
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('approve' as const), user }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('resend' as const), user }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reject' as const), user }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('lapse' as const), user }) },
  )
  const member = fc.constantFrom('alice' as const, 'bob' as const, 'carol' as const)

  test('voting: any order of approvals, repetitions, rejections and lapses ends as the model says', async () => {
    let completed = 0
    await fc.assert(
      fc.asyncProperty(member, fc.array(step, { maxLength: 8 }), async (submitter, steps) => {
        const body = newTag()
        const { fingerprint, id } = await members[submitter].send(body)
        const model = new Model(submitter)
        const clients: Record<string, TestClient> = { ...members, outsider: outsider.client }
        for (const { kind, user } of steps) {
          const client = clients[user]!
          let status = 200
          if (kind === 'lapse') clock.advance(24 * HOUR)
          else {
            const attempt = kind === 'resend' ? client.send(body) : client[kind](fingerprint)
            await attempt.catch((error: { status: number }) => {
              status = error.status
            })
          }
          expect(status).toBe(model[kind](user))
        }
        const activity = await read(members.alice, id)
        expect(activity.status).toBe(model.status)
        if (activity.status === COMPLETED) completed++
      }),
      { numRuns: 60 },
    )
    expect(completed).toBeGreaterThan(5)
  })
})
