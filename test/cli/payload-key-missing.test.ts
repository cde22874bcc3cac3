/** A payload key that a command or a worker does not have: which one is missing, where, and what to do is said, and nothing is lost. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { Secret } from '../../src/telemetry/index.ts'
import { createPayloadSeal } from '../../src/worker/index.ts'
import { createTestUser } from '../service/harness.ts'
import { countActivities, quorateShared as quorate, type Ran, writeFiles } from './harness.ts'
import { onlyTags, scene } from './scene.ts'
import { startWorker } from './started-worker.ts'

vi.setConfig({ testTimeout: 360_000 })

const idOf = (key: string) => createPayloadSeal([new Secret(key.trim())]).keyId

/** Checks what a person is told; `lacking` is the id of the key. */
function expectTold({ stderr, exit }: Pick<Ran, 'stderr' | 'exit'>, lacking: string): void {
  expect(exit).toBe(1)
  expect(stderr).toContain('error worker/payload-refused')
  expect(stderr).toContain(`the payload key ${lacking}`)
  expect(stderr).toContain('QUORATE_PAYLOAD_KEY_FILE')
  expect(stderr).not.toMatch(/determinis|TMPRL|internal\/unexpected/i)
}

test('payload key: a command or a worker without it says which one is missing and where it is given; with it the apply goes on', async () => {
  const place = await scene()
  const { service, env, folder } = place
  const bob = await createTestUser(service, 'bob')
  const userIds = [service.rootUserId, bob.userId]
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one']) })
  const begun = await quorate(['apply', defs, '--yes', '--wait', '5s'], { env })
  expect(begun.exit, begun.stderr).toBe(3)
  await vi.waitFor(
    async () => {
      const { stdout } = await quorate(['status', '--json'], { env })
      expect(JSON.parse(stdout).apply).toMatchObject({ state: 'waiting' })
    },
    { interval: 500 },
  )
  const before = await countActivities(service)
  const key = readFileSync(join(env['QUORATE_DATA_DIR']!, 'payload.key'), 'utf8').trim()
  const other = randomBytes(32).toString('hex')
  const withOther = { ...env, QUORATE_PAYLOAD_KEY: other }

  // The command has another key than the apply and its worker.
  for (const command of [['status'], ['apply', defs, '--yes', '--wait', '5s']]) {
    const told = await quorate(command, { env: withOther })
    expectTold(told, idOf(key))
    expect(told.stderr).toContain(idOf(other))
  }

  // The worker has another key than the apply and the command.
  await place.stopWorker()
  const wrong = await startWorker(withOther)
  const status = await quorate(['status'], { env })
  expectTold(status, idOf(key))
  expect(status.stderr).toContain('the worker')
  await vi.waitFor(() => expect(wrong.log()).toContain(idOf(key)))
  expect(wrong.log() + status.stderr + status.stdout).not.toMatch(new RegExp(`${key}|${other}`))
  await wrong.kill()

  // With both keys it goes on, and nothing was submitted meanwhile.
  await startWorker({ ...env, QUORATE_PAYLOAD_KEY: `${key}\n${other}` })
  const after = async () => JSON.parse((await quorate(['status', '--json'], { env })).stdout).apply
  // Temporal hands out a workflow task that failed less and less often.
  await vi.waitFor(async () => expect(await after()).toMatchObject({ state: 'waiting' }), {
    timeout: 180_000,
    interval: 1_000,
  })
  expect(await countActivities(service)).toBe(before)
})

test('payload key: what is begun at a worker without it is told so, submits nothing, and is begun again at one that has it', async () => {
  const place = await scene()
  const { service, env, folder } = place
  await place.stopWorker()
  const other = randomBytes(32).toString('hex')
  const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one']) })
  const wrong = await startWorker({ ...env, QUORATE_PAYLOAD_KEY: other })
  const before = await countActivities(service)
  const told = await quorate(['apply', defs, '--yes'], { env })
  const key = readFileSync(join(env['QUORATE_DATA_DIR']!, 'payload.key'), 'utf8')
  expectTold(told, idOf(key))
  expect(await countActivities(service)).toBe(before)
  await wrong.kill()
  await place.startWorker()
  const done = await quorate(['apply', defs, '--yes'], { env })
  expect([done.exit, await countActivities(service)]).toEqual([0, before + 1])
})
