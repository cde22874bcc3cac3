/** What a person on call is told by `quorate status` while Temporal is away: what the last look has left, and that no other begins. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createPlanStore } from '../../activities/index.ts'
import { ORGANIZATION_ID } from '../definitions/harness.ts'
import { keyFile, quorateShared as quorate, testFolder } from './harness.ts'
import { startCommand } from './started.ts'

test('status: with Temporal away the last look, what is held and who approved are told, and the exit code is 1', async () => {
  const folder = testFolder()
  const { watches } = createPlanStore(join(folder, 'data/plans'))
  const [goodAt, since, lookedAt] = [1, 2, 3].map((hour) => `2026-11-27T0${hour}:00:00.000Z`) as [
    string,
    string,
    string,
  ]
  await watches.put({
    ...{ organizationId: ORGANIZATION_ID, organization: 'acme', baseUrl: 'http://127.0.0.1:1', definitions: 'd' },
    ...{ given: { env: {}, vars: {} }, modes: {}, everyMs: 60_000, sweepMs: 3_600_000, since: goodAt },
  })
  const type = 'ACTIVITY_TYPE_CREATE_USERS_V4'
  const waiting = [{ id: 'a', type, fingerprint: 'sha256:ab', since, approvedBy: ['ann'], approverIds: ['x'] }] as const
  const held = { code: 'apply/heal-loop', why: 'tag.x: repaired again and again', since }
  await watches.putState(ORGANIZATION_ID, { lookedAt, goodAt, sweeps: 1, drift: [], waiting, repairs: [], held })
  const env = {
    QUORATE_BASE_URL: 'http://127.0.0.1:1',
    QUORATE_ORGANIZATION_ID: ORGANIZATION_ID,
    QUORATE_DATA_DIR: join(folder, 'data'),
    QUORATE_API_KEY_FILE: keyFile(folder, 'key', 'ab'.repeat(32)),
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  }
  const { exit, stdout, stderr } = await quorate(['status'], { env })
  expect([exit, stderr]).toEqual([1, expect.stringContaining('error worker/temporal-unreachable')])
  for (const told of [
    'as the last look left it',
    `last as defined: ${goodAt}; last look: ${lookedAt}`,
    'next look: not known, and none while Temporal is away',
    `held since ${since}: tag.x: repaired again and again`,
    'waits: CREATE_USERS_V4',
    'approved by ann',
  ])
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(told)
})

test('a command that has given Temporal up ends with its last words, and does not wait for what the SDK still tries', async () => {
  const folder = testFolder()
  const silent = createServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const env = {
    QUORATE_BASE_URL: 'http://127.0.0.1:1',
    QUORATE_ORGANIZATION_ID: ORGANIZATION_ID,
    QUORATE_DATA_DIR: join(folder, 'data'),
    QUORATE_API_KEY_FILE: keyFile(folder, 'key', 'ab'.repeat(32)),
    TEMPORAL_ADDRESS: `127.0.0.1:${(silent.address() as AddressInfo).port}`,
  }
  const command = startCommand(['sends', '--json'], { env, home: folder })
  await command.says(/"sends": \[\]/)
  const saidAt = performance.now()
  expect(await command.ended).toMatchObject({ exit: 0 })
  // It was 5 to 7 s.
  expect(performance.now() - saidAt).toBeLessThan(3_000)
})
