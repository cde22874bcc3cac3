/** A rejection holds for an equal intent on every machine: the command line as a process, with data folders and workers of their own. */
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findByIntent } from '../../activities/intent.ts'
import { countActivities, environmentOf, keyFile, quorateShared as quorate, writeFiles } from '../cli/harness.ts'
import { onlyTags, scene } from '../cli/scene.ts'
import { rootReader } from '../live/organization.ts'
import { createTestUser, startTestService } from '../service/harness.ts'

describe('rejection', () => {
  test('what somebody rejected is asked of nobody again, from any data folder, until --ask-again asks once', async () => {
    const { service, folder, env } = await scene()
    const bob = await createTestUser(service, 'bob')
    const userIds = [service.rootUserId, bob.userId]
    await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
    const bobKey = ['--key-file', keyFile(folder, 'bob', bob.client.privateKey)]
    const defs = writeFiles(join(folder, 'defs'), { 'acme.yaml': onlyTags(['treasury']) })
    const codeOf = async () => {
      const listed = await quorate(['activities', '--waiting', '--json', ...bobKey], { env })
      return JSON.parse(listed.stdout).activities[0].code as string
    }

    const saved = join(folder, 'plan.json')
    expect((await quorate(['plan', defs, '--out', saved], { env })).exit).toBe(0)
    expect((await quorate(['apply', saved], { env })).exit).toBe(3)
    expect(
      (await quorate(['reject', await codeOf(), '--yes', '--reason', 'not this quarter', ...bobKey], { env })).exit,
    ).toBe(0)
    const before = await countActivities(service)

    // At once, while the run that waits has not heard of it, and with the very plan that was rejected.
    const again = await quorate(['apply', saved], { env })
    expect(again.stderr).toMatch(/error cli\/rejected: create tag treasury was rejected by bob on 20\d\d-/)
    expect(again.stderr).toMatch(/submitted +nothing/)
    expect(again.stderr).toContain('--ask-again')
    expect(again.exit).toBe(4)

    await expect
      .poll(async () => (await quorate(['status'], { env })).stdout, { timeout: 20_000, interval: 500 })
      .toContain('rejected by bob: not this quarter (kept on this machine)')
    const { stdout: standing } = await quorate(['status'], { env })
    expect(standing).not.toContain('ask them why')
    expect(standing).toMatch(
      /^next: create tag treasury \([0-9a-f]{4}-[0-9a-f]{4}\): .* submits it as a new activity$/m,
    )

    // Another machine: a data folder that knows nothing of it.
    const elsewhere = environmentOf(service, folder, service.root.privateKey, {
      ...env,
      QUORATE_DATA_DIR: join(folder, 'another'),
    })
    const planned = await quorate(['plan', defs], { env: elsewhere })
    expect(planned.stdout).toContain('rejected by bob on ')
    expect(planned.stderr).toContain('cli/rejected')
    expect(planned.exit).toBe(4)
    const other = await quorate(['apply', defs, '--yes'], { env: elsewhere })
    expect(other.stderr).toContain('cli/rejected')
    expect(other.exit).toBe(4)
    expect(await countActivities(service)).toBe(before)

    const marked = join(folder, 'marked.json')
    expect((await quorate(['plan', defs, '--out', marked], { env })).stdout).toContain('rejected by bob on ')
    const asked = await quorate(['apply', defs, '--yes', '--ask-again'], { env })
    expect(asked.stdout).toContain('Waiting for approval')
    const askedAs = await codeOf()
    expect((asked.stdout + asked.stderr).split(askedAs)).toHaveLength(2)
    expect(asked.exit).toBe(3)
    expect(await countActivities(service)).toBe(before + 1)
    expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(3)
    expect(await countActivities(service)).toBe(before + 1)

    // A plan that was saved while the rejection held says no more that it does.
    const spent = await quorate(['apply', marked], { env })
    expect([spent.exit, spent.stdout + spent.stderr]).toEqual([3, expect.not.stringContaining('rejected by bob')])
    expect(await countActivities(service)).toBe(before + 1)

    // While something else waits, the run that holds the lock asks nothing again, and that is said.
    writeFiles(defs, { 'acme.yaml': onlyTags(['treasury', 'operations']) })
    const second = await codeOf()
    const stopped = await quorate(['status', '--cancel'], { env })
    expect([stopped.exit, stopped.stdout]).toEqual([0, expect.stringContaining(`\`quorate reject ${second}\` ends it`)])
    expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(3)
    expect((await quorate(['reject', second, '--yes', ...bobKey], { env })).exit).toBe(0)
    await quorate(['status'], { env })
    const made = await countActivities(service)
    const joined = await quorate(['apply', defs, '--yes', '--ask-again'], { env })
    expect([joined.exit, joined.stderr]).toEqual([1, expect.stringContaining('error cli/apply-runs')])
    expect(joined.stderr).toContain('stop it with `quorate status --cancel` and give --ask-again once more')
    expect(await countActivities(service)).toBe(made)
    await quorate(['status', '--cancel'], { env })
    expect((await quorate(['apply', defs, '--yes', '--ask-again'], { env })).exit).toBe(3)
    expect(await countActivities(service)).toBe(made + 1)

    const waiting = await quorate(['activities', '--waiting', '--json', ...bobKey], { env })
    const codes = (JSON.parse(waiting.stdout).activities as readonly { code: string }[]).map(({ code }) => code)
    expect(codes).toHaveLength(2)
    expect((await quorate(['approve', ...codes, '--yes', ...bobKey], { env })).exit).toBe(0)
    await quorate(['status', '--follow'], { env })
    const done = await quorate(['apply', defs, '--yes'], { env })
    expect(done.stdout).toContain('No changes.')
    expect(done.exit).toBe(0)
  })
})

describe('which rejection holds', () => {
  test('an equal intent alone; not once it completed, nor where one waits, nor where it was excepted', async () => {
    const service = await startTestService()
    onTestFinished(() => service.close())
    const bob = await createTestUser(service, 'bob')
    const userIds = [service.rootUserId, bob.userId]
    await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
    const client = rootReader(service)
    const type = 'ACTIVITY_TYPE_CREATE_USER_TAG'
    const ops = { userTagName: 'ops', userIds: [] }
    const find = (except: readonly string[] = [], parameters: typeof ops = ops) =>
      findByIntent(client, type, parameters, except).then((one) => one?.id)

    expect(await find()).toBeUndefined()
    const first = await service.root.submit(type, ops)
    expect(await find()).toBe(first.id)
    await bob.client.reject(first.fingerprint)
    expect(await find()).toBe(first.id)
    expect(await find([], { ...ops, userTagName: 'other' })).toBeUndefined()
    expect(await find([first.id])).toBeUndefined()

    const second = await service.root.submit(type, ops)
    expect(await find()).toBe(second.id)
    await bob.client.reject(second.fingerprint)
    expect(await find([first.id])).toBe(second.id)

    const third = await service.root.submit(type, ops)
    await bob.client.approve(third.fingerprint)
    expect(await find()).toBeUndefined()
  })
})
