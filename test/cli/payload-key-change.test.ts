/** The key of the payloads at Temporal is changed while an apply waits for votes: its worker is killed, and the next one has the new key. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createTestUser } from '../service/harness.ts'
import { countActivities, quorateShared as quorate, writeFiles } from './harness.ts'
import { connectScene, onlyTags, scene } from './scene.ts'
import { startWorker } from './started-worker.ts'

test('payload key: an apply that waits for votes while the key is changed ends, and each intent is one activity', async () => {
  const place = await scene()
  const { service, env, folder } = place
  const bob = await createTestUser(service, 'bob')
  const userIds = [service.rootUserId, bob.userId]
  await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
  await place.stopWorker()
  const old = await startWorker(env)
  const before = await countActivities(service)
  const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one', 'two']) })
  const begun = await quorate(['apply', defs, '--yes', '--wait', '12s'], { env })
  expect(begun.exit, begun.stderr).toBe(3)

  await old.kill()
  const path = join(env['QUORATE_DATA_DIR']!, 'payload.key')
  const former = readFileSync(path, 'utf8')
  const next = `${randomBytes(32).toString('hex')}\n`
  writeFileSync(path, next + former, { mode: 0o600 })
  const worker = await startWorker(env)

  const status = async () => JSON.parse((await quorate(['status', '--json'], { env })).stdout).apply
  await vi.waitFor(
    async () => {
      const { activities } = await service.root.query('list_activities', {
        filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
      })
      for (const { fingerprint } of activities) await bob.client.approve(fingerprint)
      expect((await status()).state).toBe('done')
    },
    { interval: 500 },
  )
  const { userTags } = await service.root.query('list_user_tags', {})
  expect(userTags.map(({ tagName }) => tagName).sort()).toEqual(['one', 'two'])
  expect(await countActivities(service)).toBe(before + 2)

  // What the former key sealed has ended, at Temporal too: it goes, and the next apply knows nothing of it.
  const temporal = await connectScene(env)
  await temporal.client.workflow.getHandle(`apply/${service.organizationId}`).result()
  await temporal.close()
  await worker.kill()
  writeFileSync(path, next, { mode: 0o600 })
  await startWorker(env)
  const more = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one', 'two', 'three']) })
  const after = await quorate(['apply', more, '--yes', '--wait', '12s'], { env })
  expect(after.exit, after.stderr).toBe(3)
  expect(await countActivities(service)).toBe(before + 3)
})
