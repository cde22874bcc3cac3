/** What only an operator may do: move the time of a service, and let it fail on request. The commands are processes. */

import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { askOperator, type OperatorRequest } from '../../src/service/index.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { quorateShared as quorate, serve, testFolder } from './harness.ts'

/** A service in this process, and the operator's commands for it as processes. */
async function operated() {
  const service = await startTestService({ operator: true })
  onTestFinished(() => service.close())
  const operate = async (...args: string[]) => {
    const ran = await quorate([...args, '--folder', service.dataDir, '--json'])
    expect(ran.stderr).toBe('')
    expect(ran.exit).toBe(0)
    return JSON.parse(ran.stdout)
  }
  return { service, operate }
}

const tag = (service: TestService, userTagName: string, timestampMs: number = Date.now()) =>
  service.body('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName, userIds: [] }, { timestampMs })
const tagNames = async (service: TestService) =>
  (await service.root.query('list_user_tags')).userTags.map(({ tagName }) => tagName)

const HOUR = 3_600_000

describe('clock', () => {
  test('clock: keys expire, bodies grow stale and answers carry the moved time', async () => {
    const { service, operate } = await operated()
    const key = generateP256KeyPair()
    await service.root.submit('ACTIVITY_TYPE_CREATE_API_KEYS_V2', {
      userId: service.rootUserId,
      apiKeys: [
        { apiKeyName: 'short', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256', expirationSeconds: '3600' },
      ],
    })
    const short = service.client(key.privateKey)
    expect(await short.query('whoami')).toMatchObject({ userId: service.rootUserId })
    const old = tag(service, 'old')
    expect(await operate('clock', '+1h1m')).toMatchObject({ aheadMs: HOUR + 60_000 })
    const expired = await short.raw(
      '/public/v1/query/whoami',
      JSON.stringify({ organizationId: service.organizationId }),
    )
    expect([expired.status, expired.body['message']]).toEqual([401, expect.stringMatching(/^expired api key/)])
    expect(Date.parse(expired.headers.get('date')!) - Date.now()).toBeGreaterThan(HOUR)
    const stale = await service.root.raw(old.path, old.text)
    expect(stale.body).toMatchObject({ code: 3, turnkeyErrorCode: 'INVALID_TIME' })
    const made = await service.root.send(tag(service, 'new', Date.now() + HOUR))
    expect(made.status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect(Number(made.createdAt.seconds) * 1000).toBeGreaterThan(Date.now() + HOUR)
    expect(await operate('clock', 'reset')).toMatchObject({ aheadMs: 0 })
    expect(await short.query('whoami')).toMatchObject({ userId: service.rootUserId })
  })

  test('clock: votes lapse after a day, and the activity stays open', async () => {
    const { service, operate } = await operated()
    const bob = await createTestUser(service, 'bob')
    const userIds = [service.rootUserId, bob.userId]
    await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
    const waiting = await service.root.send(tag(service, 'slow'))
    await operate('clock', '+1d')
    await operate('clock', '+1h')
    const ahead = { timestampMs: Date.now() + 25 * HOUR }
    const late = await bob.client.approve(waiting.fingerprint, ahead)
    expect(late.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    const again = await service.root.approve(waiting.fingerprint, { timestampMs: ahead.timestampMs + 1 })
    expect(again).toMatchObject({ id: waiting.id, status: 'ACTIVITY_STATUS_COMPLETED' })
  })
})

describe('fault', () => {
  test('fault: requests are refused as often as was asked for, say when to try again, and change nothing', async () => {
    const { service, operate } = await operated()
    const submits = ['--path', '/public/v1/submit/*']
    await operate('fault', 'add', ...submits, '--times', '2', '--status', '429', '--retry-after', '1')
    const { faults } = await operate('fault', 'add', ...submits, '--times', '1', '--status', '500')
    expect(faults).toEqual([
      { id: 1, path: '/public/v1/submit/*', times: 2, status: 429, retryAfter: 1 },
      { id: 2, path: '/public/v1/submit/*', times: 1, status: 500 },
    ])
    const body = tag(service, 'patient')
    const answers = []
    for (let n = 0; n < 4; n++) answers.push(await service.root.raw(body.path, body.text))
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 500, 200])
    expect(answers[0]!.headers.get('retry-after')).toBe('1')
    expect(answers[0]!.body).toMatchObject({ code: 8, turnkeyErrorCode: 'RATE_LIMIT_EXCEEDED' })
    expect(await tagNames(service)).toEqual(['patient'])
    expect(await operate('fault', 'list')).toEqual({ faults: [] })
  })

  test('fault: a dropped answer belongs to a request that was carried out, once', async () => {
    const { service, operate } = await operated()
    await operate('fault', 'add', '--path', '/public/v1/submit/create_user_tag', '--times', '1', '--drop')
    const body = tag(service, 'unheard')
    await expect(service.root.raw(body.path, body.text)).rejects.toThrow('socket hang up')
    expect(await tagNames(service)).toEqual(['unheard'])
    expect((await service.root.send(body)).status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect(await tagNames(service)).toEqual(['unheard'])
  })

  test('fault: a slow quorum counts its votes late, and clearing ends it', async () => {
    const { service, operate } = await operated()
    const bob = await createTestUser(service, 'bob')
    const userIds = [service.rootUserId, bob.userId]
    await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
    await operate('fault', 'add', '--path', '/public/v1/submit/approve_activity', '--delay', '3')
    const waiting = await service.root.send(tag(service, 'slow'))
    const begun = performance.now()
    const vote = bob.client.approve(waiting.fingerprint)
    const { activity } = await service.root.query('get_activity', { activityId: waiting.id })
    expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED')
    expect((await vote).status).toBe('ACTIVITY_STATUS_COMPLETED')
    expect(performance.now() - begun).toBeGreaterThan(2_900)
    expect(await operate('fault', 'clear', '1')).toEqual({ faults: [] })
  })
})

test('operator: what cannot be is refused with the reason and changes nothing', async () => {
  const { service, operate } = await operated()
  const add = (fault: object) => ({ kind: 'add-fault', fault: { path: '*', ...fault } })
  const table: readonly (readonly [object, string])[] = [
    [{ kind: 'move-clock', ms: 9e14 }, 'expected to move the clock forward, to a time before the year 10000'],
    [{ kind: 'move-clock', ms: -1 }, 'expected to move the clock forward, to a time before the year 10000'],
    [
      add({ path: '/public/v1/submit/create_nothing', drop: true }),
      'no path of the API or of the authentication proxy is `/public/v1/submit/create_nothing`',
    ],
    [add({}), 'the fault does nothing'],
    [add({ status: 418 }), 'expected the status to be one of 429, 500, 503, got `418`'],
    [add({ status: 500, drop: true }), 'a request is refused with a status, or its answer is dropped: not both'],
    [add({ retryAfter: 1, drop: true }), 'only a refusal says when to try again'],
    [add({ drop: true, times: 0 }), 'expected `times` to be a whole number above 0, got `0`'],
    [{ kind: 'clear-faults', id: 7 }, 'no fault has the id 7'],
    [{ kind: 'stop' }, '`stop` is no request of an operator'],
  ]
  for (const [request, message] of table) {
    const refused = askOperator(service.dataDir, request as OperatorRequest)
    await expect(refused).rejects.toMatchObject({ code: 'service/operator-invalid', message })
  }
  const typed = await quorate(['clock', '25h', '--folder', service.dataDir])
  expect(typed.stderr).toContain('expected a move such as +25h, +1d12h or +90s, or `reset`, got `25h`')
  const number = await quorate(['fault', 'add', '--drop', '--times', 'x', '--folder', service.dataDir])
  expect(number.stderr).toContain('expected --times to be a number, got `x`')
  expect([typed.exit, number.exit]).toEqual([1, 1])
  expect(await operate('clock')).toMatchObject({ aheadMs: 0 })
  expect(await operate('fault', 'list')).toEqual({ faults: [] })
})

describe('serve', () => {
  test('serve: what an operator changed outlives a restart, and is said at the start', async () => {
    const folder = join(testFolder(), 'service')
    const first = await serve(folder)
    await quorate(['clock', '+36h', '--folder', folder])
    await quorate(['fault', 'add', '--status', '503', '--folder', folder])
    await first.stop()
    const second = await serve(folder)
    await vi.waitFor(() => expect(second.said()).toContain('1  *  every time: refused with 503'))
    expect(second.said()).toContain("The service's time is 1d12h ahead")
    await second.stop()
    const production = await serve(folder, { env: { NODE_ENV: 'production' } })
    expect((await fetch(`${production.baseUrl}/public/v1/query/whoami`, { method: 'POST' })).status).not.toBe(503)
  })

  test('serve: in production nobody moves its time, unless it was started to listen', async () => {
    const folder = join(testFolder(), 'service')
    const env = { NODE_ENV: 'production' }
    const deaf = await serve(folder, { env })
    const refused = await quorate(['clock', '+1h', '--folder', folder])
    expect(refused.stderr).toContain('error service/no-operator')
    expect(refused.exit).toBe(1)
    await deaf.stop()
    await serve(folder, { env, args: ['--operator'] })
    expect((await quorate(['clock', '+1h', '--folder', folder])).exit).toBe(0)
  })

  test('serve: two run side by side, on ports of their own; a third on the folder of one is refused', async () => {
    const folder = testFolder()
    const [one, two] = await Promise.all([serve(join(folder, 'one')), serve(join(folder, 'two'))])
    expect(one.baseUrl).not.toBe(two.baseUrl)
    expect(one.organizationId).not.toBe(two.organizationId)
    await quorate(['clock', '+1h', '--folder', one.folder])
    expect(JSON.parse((await quorate(['clock', '--json', '--folder', two.folder])).stdout)).toMatchObject({
      aheadMs: 0,
    })
    const third = await quorate(['serve', '--folder', one.folder])
    expect(third.stderr).toContain(`in use by process ${one.pid}`)
    expect(third.exit).toBe(1)
  })
})
