/** The key of the payloads at Temporal is changed while an apply waits for votes: its worker is killed, and the next one has the new key. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { builtMain } from '../built.ts'
import { createTestUser } from '../service/harness.ts'
import { countActivities, quorateShared as quorate, writeFiles } from './harness.ts'
import { onlyTags, type Scene, scene } from './scene.ts'

vi.setConfig({ testTimeout: 180_000 })

async function startWorker({ env }: Scene): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [builtMain(), 'worker', '--json'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void worker.kill('SIGKILL'))
  await once(worker.stdout, 'data')
  return worker
}

test('payload key: an apply that waits for votes while the key is changed ends, and each intent is one activity', async () => {
  const place = await scene()
  const { service, env, folder } = place
  const bob = await createTestUser(service, 'bob')
  const userIds = [service.rootUserId, bob.userId]
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  await place.stopWorker()
  const old = await startWorker(place)
  const before = await countActivities(service)
  const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one', 'two']) })
  const begun = await quorate(['apply', defs, '--yes', '--wait', '12s'], { env })
  expect(begun.exit, begun.stderr).toBe(3)

  const gone = once(old, 'exit')
  old.kill('SIGKILL')
  await gone
  const path = join(env['QUORATE_DATA_DIR']!, 'payload.key')
  const former = readFileSync(path, 'utf8')
  const next = `${randomBytes(32).toString('hex')}\n`
  writeFileSync(path, next + former, { mode: 0o600 })
  const worker = await startWorker(place)

  const status = async () => JSON.parse((await quorate(['status', '--json'], { env })).stdout).apply
  await vi.waitFor(
    async () => {
      const { activities } = await service.root.query('list_activities', {
        filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
      })
      for (const { fingerprint } of activities) await bob.client.approve(fingerprint)
      expect((await status()).state).toBe('done')
    },
    { timeout: 90_000, interval: 500 },
  )
  const { userTags } = await service.root.query('list_user_tags', {})
  expect(userTags.map(({ tagName }) => tagName).sort()).toEqual(['one', 'two'])
  expect(await countActivities(service)).toBe(before + 2)

  // What the former key sealed has ended: it goes, and the next apply knows nothing of it.
  worker.kill('SIGKILL')
  writeFileSync(path, next, { mode: 0o600 })
  await startWorker(place)
  const more = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one', 'two', 'three']) })
  const after = await quorate(['apply', more, '--yes', '--wait', '12s'], { env })
  expect(after.exit, after.stderr).toBe(3)
  expect(await countActivities(service)).toBe(before + 3)
})
