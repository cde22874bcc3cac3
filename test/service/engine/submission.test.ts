import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import { encodeBase64Url, encodeUtf8 } from '../../../src/encoding/index.ts'
import { activities, fingerprintOf } from '../../../src/protocol/index.ts'
import { createApiKeyStamper } from '../../../src/stamp/index.ts'
import { Secret } from '../../../src/telemetry/index.ts'
import { sampleOf } from '../handlers/sample.ts'
import { createTestClock, createTestUser, startTestService, type TestService, type TestUser } from '../harness.ts'

const clock = createTestClock()
let service: TestService
let alice: TestUser
beforeAll(async () => {
  service = await startTestService({ clock })
  alice = await createTestUser(service, 'alice')
})
afterAll(() => service.close())

let tags = 0
const newTag = () => ({ userTagName: `tag-${tags++}`, userIds: [] })
const tagBody = (overrides = {}) => service.body('ACTIVITY_TYPE_CREATE_USER_TAG', newTag(), overrides)
const countTags = async () => (await service.root.query('list_user_tags')).userTags.length

describe('submission', () => {
  test('submission: an allowed activity is executed and answered in both readings of the envelope', async () => {
    const body = tagBody()
    const answer = await service.root.raw(body.path, body.text)
    const activity = answer.body['activity'] as Record<string, never>
    expect(answer.status).toBe(200)
    expect(Object.keys(activity)).toEqual([
      ...['id', 'organizationId', 'status', 'type', 'intent', 'result', 'votes', 'fingerprint'],
      ...['canApprove', 'canReject', 'createdAt', 'updatedAt', 'failure', 'timestampMs'],
    ])
    expect(Object.keys(activity['result']!)).toEqual(['createUserTagResult', 'activity'])
    const { timestampMs, result, ...record } = activity
    const { activity: copy, ...results } = result as unknown as { activity: object }
    expect(copy).toEqual({ ...record, result: results })
    expect(timestampMs).toBe(JSON.parse(body.text).timestampMs)
    expect(record).toMatchObject({
      status: 'ACTIVITY_STATUS_COMPLETED',
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      fingerprint: fingerprintOf(body.text),
      intent: { createUserTagIntent: JSON.parse(body.text).parameters },
      canApprove: false,
      canReject: false,
      createdAt: { seconds: String(clock() / 1000), nanos: '0' },
      failure: null,
    })
    const [vote] = (record['votes'] ?? []) as Record<string, unknown>[]
    expect(vote).toMatchObject({
      selection: 'VOTE_SELECTION_APPROVED',
      message: body.text,
      publicKey: service.root.publicKey,
      scheme: 'SIGNATURE_SCHEME_TK_API_P256',
      user: { userId: service.rootUserId, apiKeys: [{ credential: { publicKey: service.root.publicKey } }] },
    })
  })

  test('submission: the same bytes twice are one activity and one execution', async () => {
    const before = await countTags()
    const body = tagBody()
    const first = await service.root.send(body)
    expect(await service.root.send(body)).toEqual(first)
    expect(await countTags()).toBe(before + 1)
  })

  test('submission: the same bytes 32 times at once are one activity and one execution', async () => {
    const before = await countTags()
    for (let round = 0; round < 5; round++) {
      const body = tagBody()
      const sent = await Promise.all(Array.from({ length: 32 }, () => service.root.send(body)))
      expect(new Set(sent.map(({ id }) => id)).size).toBe(1)
      expect(new Set(sent.map(({ status }) => status))).toEqual(new Set(['ACTIVITY_STATUS_COMPLETED']))
    }
    expect(await countTags()).toBe(before + 5)
  })

  test('submission: what has been submitted is the same after a restart', async () => {
    const body = tagBody()
    const first = await service.root.send(body)
    await service.restart()
    expect(await service.root.send(body)).toEqual(first)
  })

  test.each([
    ['a space', (text: string) => text.replace(',', ', ')],
    [
      'the order of members',
      (text: string) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).reverse())),
    ],
    ['an escape', (text: string) => text.replace('CREATE_USER_TAG', '\\u0043REATE_USER_TAG')],
    ['a newline at the end', (text: string) => `${text}\n`],
  ])('submission: %s makes another activity of the same request', async (_name, change) => {
    const body = tagBody()
    const first = await service.root.send(body)
    const second = await service.root.send({ ...body, text: change(body.text) })
    expect(second.id).not.toBe(first.id)
    expect(second.fingerprint).toBe(fingerprintOf(change(body.text)))
  })

  test('submission: what a denial leaves behind does nothing, and the same bytes are judged anew', async () => {
    const body = tagBody()
    const denied = await alice.client.raw(body.path, body.text)
    expect(denied.status).toBe(403)
    expect(denied.body).toEqual({
      code: 7,
      message:
        "You don't have sufficient permissions to take this action. Please add a policy granting this user permissions. Learn more at https://docs.turnkey.com/concepts/policies/quickstart.",
      details: [
        {
          '@type': 'type.googleapis.com/errors.v1.PolicyEnginePermissionError',
          message: 'No policies evaluated to outcome: Allow',
          policyEvaluations: [],
        },
      ],
      turnkeyErrorCode: 'REQUEST_NOT_AUTHORIZED',
    })
    const policy = await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'alice makes tags',
      effect: 'EFFECT_ALLOW',
      consensus: `approvers.any(user, user.id == '${alice.userId}')`,
      condition: "activity.kind == 'CREATE_USER_TAG'",
      notes: '',
    })
    const activity = await alice.client.send(body)
    expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED')
    const policyId = policy.result.createPolicyResult!.policyId
    const { policyEvaluations } = await alice.client.query('get_policy_evaluations', { activityId: activity.id })
    expect(policyEvaluations).toMatchObject([
      {
        activityId: activity.id,
        voteId: activity.votes[0]!.id,
        policyEvaluations: [{ policyId, outcome: 'OUTCOME_ALLOW' }],
      },
    ])
    await service.root.submit('ACTIVITY_TYPE_DELETE_POLICY', { policyId })
    await expect(alice.client.send(tagBody())).rejects.toMatchObject({ status: 403 })
  })

  test('submission: a denying policy is named', async () => {
    const made = await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', {
      policyName: 'no tags for alice',
      effect: 'EFFECT_DENY',
      consensus: `approvers.any(user, user.id == '${alice.userId}')`,
      condition: 'true',
      notes: '',
    })
    const policyId = made.result.createPolicyResult!.policyId
    await expect(alice.client.send(tagBody())).rejects.toMatchObject({
      body: {
        details: [
          {
            message: `The following policies denied this action: ${policyId}`,
            policyEvaluations: [{ policyId, outcome: 'OUTCOME_DENY_EXPLICIT' }],
          },
        ],
      },
    })
    await service.root.submit('ACTIVITY_TYPE_DELETE_POLICY', { policyId })
  })

  test('submission: anybody may manage credentials of their own, and nobody those of others', async () => {
    const keys = (userId: string) => {
      const publicKey = generateP256KeyPair().publicKey
      return { userId, apiKeys: [{ apiKeyName: 'second', publicKey, curveType: 'API_KEY_CURVE_P256' }] }
    }
    const own = await alice.client.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', keys(alice.userId))
    expect(own.status).toBe('ACTIVITY_STATUS_COMPLETED')
    await expect(
      alice.client.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', keys(service.rootUserId)),
    ).rejects.toMatchObject({ status: 403 })
  })

  test('submission: an activity type that is not carried out is refused with code 12 and never accepted', async () => {
    const parameters = sampleOf(activities.ACTIVITY_TYPE_EXECUTE_SWAP.intent)
    const before = (await service.root.query('list_activities')).activities
    await expect(service.root.submit('ACTIVITY_TYPE_EXECUTE_SWAP', parameters)).rejects.toMatchObject({
      status: 501,
      body: { code: 12, message: expect.stringContaining('ACTIVITY_TYPE_EXECUTE_SWAP') },
    })
    expect((await service.root.query('list_activities')).activities).toEqual(before)
  })
})

describe('liveness', () => {
  const HOUR = 3_600_000
  const MINUTE = 60_000
  test.each([
    { name: 'an hour old', ms: -HOUR, status: 200 },
    { name: 'a millisecond older than an hour', ms: -HOUR - 1, status: 400 },
    { name: 'five minutes ahead', ms: 5 * MINUTE, status: 200 },
    { name: 'a millisecond more than five minutes ahead', ms: 5 * MINUTE + 1, status: 400 },
  ])('liveness: a body $name is answered with $status', async ({ ms, status }) => {
    const body = tagBody({ timestampMs: clock() + ms })
    const answer = await service.root.raw(body.path, body.text)
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.body).toMatchObject({ code: 3, turnkeyErrorCode: 'INVALID_TIME' })
  })

  test('liveness: a known body is answered at any age', async () => {
    const body = tagBody()
    const first = await service.root.send(body)
    clock.advance(48 * HOUR)
    expect(await service.root.send(body)).toEqual(first)
  })
})

describe('stamps', () => {
  const path = '/public/v1/query/whoami'
  const text = () => JSON.stringify({ organizationId: service.organizationId })
  const stampOf = (stamp: object) => encodeBase64Url(encodeUtf8(JSON.stringify(stamp)))
  const unsigned = (message: string, code: string) => ({
    code: 16,
    message,
    details: [{ '@type': 'type.googleapis.com/errors.v1.TurnkeyErrorDetail', turnkeyErrorCode: code }],
    turnkeyErrorCode: code,
  })

  test.each([
    {
      name: 'no stamp',
      headers: { 'x-stamp': '' },
      expected: unsigned(
        'cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)',
        'SIGNATURE_MISSING',
      ),
    },
    {
      name: 'a stamp that is no JSON',
      headers: { 'x-stamp': 'bm8' },
      expected: unsigned('malformed activity stamp', 'SIGNATURE_INVALID'),
    },
    {
      name: 'a stamp without a signature',
      headers: { 'x-stamp': stampOf({ publicKey: '02ab', scheme: 'SIGNATURE_SCHEME_TK_API_P256' }) },
      expected: unsigned('could not extract api key stamp', 'SIGNATURE_INVALID'),
    },
  ])('stamps: $name is answered with its 401', async ({ headers, expected }) => {
    const answer = await service.root.raw(path, text(), headers)
    expect(answer.status).toBe(401)
    expect(answer.body).toEqual(expected)
  })

  test('stamps: a stamp of other bytes is no proof', async () => {
    const stamper = createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) })
    const { value: seen } = await stamper.stamp(encodeUtf8(`${text()} `))
    const answer = await service.root.raw(path, text(), { 'x-stamp': seen })
    expect(answer.status).toBe(401)
    expect(answer.body).toEqual(unsigned('could not verify api key signature', 'SIGNATURE_INVALID'))
  })

  test('stamps: two stamps are refused', async () => {
    const answer = await service.root.raw(path, text(), { 'x-stamp-webauthn': '{}' })
    expect([answer.status, answer.body['code']]).toEqual([400, 3])
  })

  test('stamps: a key that nobody has is named as not found', async () => {
    const { privateKey, publicKey } = generateP256KeyPair()
    const answer = await service.client(privateKey).raw(path, text())
    expect(answer.status).toBe(401)
    expect(answer.body).toEqual(
      unsigned(
        `could not find public key in organization or its parent organization organizationId=${service.organizationId} publicKey=${publicKey}`,
        'PUBLIC_KEY_NOT_FOUND',
      ),
    )
  })

  test('stamps: a key is refused from the second on in which it expires', async () => {
    const { privateKey, publicKey } = generateP256KeyPair()
    await service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', {
      userId: service.rootUserId,
      apiKeys: [{ apiKeyName: 'short', publicKey, curveType: 'API_KEY_CURVE_P256', expirationSeconds: '60' }],
    })
    const short = service.client(privateKey)
    clock.advance(59_999)
    expect((await short.raw(path, text())).status).toBe(200)
    clock.advance(1)
    const answer = await short.raw(path, text())
    expect(answer.status).toBe(401)
    expect(answer.body).toEqual(
      unsigned(
        `expired api key: rpc error: code = Unauthenticated desc = expired api key publicKey=${publicKey} organizationId=${service.organizationId}`,
        'API_KEY_EXPIRED',
      ),
    )
  })
})
