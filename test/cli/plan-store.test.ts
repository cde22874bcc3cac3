/** Two machines with a data folder each, one Temporal server and one PostgreSQL: what one plans, the worker of the other carries out. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { createPlaces, isThere } from '../activities/store-places.ts'
import { keyFile, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { onlyTags, scene } from './scene.ts'

const places = createPlaces()
afterAll(() => places.close())

describe.runIf(isThere('PostgreSQL'))('push', () => {
  test('a pipeline with no data folder pushes into the shared plan store without its key, and a watch takes it from there', async () => {
    const { folder, env, stopWorker, startWorker } = await scene()
    const url = (await (await places.postgres()).create()).reveal()
    await stopWorker()
    expect((await quorate(['plan-store', 'use', url], { env, cwd: folder })).exit).toBe(0)
    await startWorker()
    writeFiles(folder, { 'defs/acme.yaml': onlyTags(['one']) })
    const ci = generateP256KeyPair()
    const pipeline = {
      ...env,
      QUORATE_PLAN_STORE: url,
      QUORATE_DATA_DIR: join(testFolder(), 'data'),
      QUORATE_API_KEY_FILE: keyFile(folder, 'ci', ci.privateKey),
    }
    const pushed = await quorate(['push', 'defs'], { env: pipeline, cwd: folder })
    expect([pushed.exit, pushed.stdout]).toEqual([0, expect.stringContaining(ci.publicKey)])
    expect(existsSync(pipeline.QUORATE_DATA_DIR)).toBe(false)

    const added = await quorate(['watch', 'add', '--from', 'push', '--signer', ci.publicKey, '--json'], { env })
    expect([added.exit, JSON.parse(added.stdout).watch.source]).toEqual([0, { kind: 'push', keys: [ci.publicKey] }])
    expect((await quorate(['watch', 'remove'], { env })).exit).toBe(0)
  })
})

describe.runIf(isThere('PostgreSQL'))('plan-store use', () => {
  test('moves what a data folder has; then another machine plans and the worker of the first carries it out', async () => {
    const { folder, env, stopWorker, startWorker } = await scene()
    writeFiles(folder, { 'defs/acme.yaml': onlyTags(['one']) })
    const first = await quorate(['apply', 'defs', '--yes'], { env, cwd: folder })
    expect(first.exit, first.stderr).toBe(0)
    await stopWorker()
    const url = (await (await places.postgres()).create()).reveal()

    const named = { ...env, QUORATE_PLAN_STORE: url }
    const early = await quorate(['status'], { env: named, cwd: folder })
    expect([early.exit, early.stderr]).toEqual([4, expect.stringContaining('quorate plan-store use')])

    const used = await quorate(['plan-store', 'use', '--json'], { env: named, cwd: folder })
    expect(used.exit).toBe(0)
    const moved = JSON.parse(used.stdout) as { objects: number; put: number; place: string }
    expect(moved.put).toBe(moved.objects)
    expect(moved.objects).toBeGreaterThan(3)
    expect(
      JSON.parse((await quorate(['plan-store', 'use', '--json'], { env: named, cwd: folder })).stdout),
    ).toMatchObject({
      put: 0,
      place: moved.place,
    })
    await startWorker()
    const status = await quorate(['status'], { env: named, cwd: folder })
    expect(status.stdout).toContain(`Plan store  ${moved.place}`)

    const data = env['QUORATE_DATA_DIR']!
    const elsewhere = { ...env, QUORATE_DATA_DIR: join(testFolder(), 'data') }
    mkdirSync(elsewhere.QUORATE_DATA_DIR, { mode: 0o700 })
    copyFileSync(join(data, 'payload.key'), join(elsewhere.QUORATE_DATA_DIR, 'payload.key'))
    const keyless = await quorate(['plan-store', 'use', url], { env: elsewhere, cwd: folder })
    expect([keyless.exit, keyless.stderr]).toEqual([1, expect.stringContaining('--store-key')])
    const joined = await quorate(['plan-store', 'use', url, '--store-key', join(data, 'plans.key')], {
      env: elsewhere,
      cwd: folder,
    })
    expect(joined.exit).toBe(0)
    const doctor = await quorate(['doctor', '--json'], { env: elsewhere, cwd: folder })
    expect(JSON.parse(doctor.stdout).findings).toContainEqual(
      expect.objectContaining({ check: 'plan store', state: 'good', found: expect.stringContaining(moved.place) }),
    )

    writeFiles(folder, { 'defs/acme.yaml': onlyTags(['one', 'two']) })
    const second = await quorate(['apply', 'defs', '--yes'], { env: elsewhere, cwd: folder })
    expect([second.exit, second.stderr]).toEqual([0, expect.anything()])
    expect((await quorate(['plan', 'defs', '--detailed-exitcode'], { env, cwd: folder })).exit).toBe(0)

    const reset = await quorate(['reset', '--yes', '--json'], { env: elsewhere, cwd: folder })
    expect(reset.stderr).toContain(`The plan store at ${moved.place} stays as it is`)
    expect(JSON.parse(reset.stdout).kept).toEqual([])
    expect((await quorate(['doctor'], { env, cwd: folder })).stdout).toContain(moved.place)
  })
})

test('plan-store use: a password on the command line is refused, and no place at all says what to give', async () => {
  const env = { QUORATE_DATA_DIR: join(testFolder(), 'data') }
  const shown = await quorate(['plan-store', 'use', 'postgres://custody:hunter2@localhost/x'], { env })
  expect([shown.exit, shown.stderr]).toEqual([1, expect.stringContaining('QUORATE_PLAN_STORE')])
  expect(shown.stderr).not.toContain('hunter2')
  const none = await quorate(['plan-store', 'use'], { env })
  expect([none.exit, none.stderr]).toEqual([1, expect.stringContaining('postgres://host/name or s3://bucket/prefix')])
})
