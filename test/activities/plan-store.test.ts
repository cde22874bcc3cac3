import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ApplyProgress, createPlanStore, type PlanStore } from '../../activities/index.ts'
import type { Plan } from '../../src/plan/index.ts'
import { makeTagPlan } from '../workflows/tag-plan.ts'

const plan = makeTagPlan('00000000-0000-4000-8000-000000000001', 'http://127.0.0.1:1', [{ name: 'a' }])
let folder = ''
let store: PlanStore
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-store-'))
  store = createPlanStore(join(folder, 'plans-and-bodies'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Those of the stores; their keys stand beside them. */
/** What lies in the stores; the names of its records stand beside each. */
const files = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('/') && !/^[^/]+\.names/.test(name))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())

describe('plan store', () => {
  test('gives back the plan that was put', async () => {
    await store.putPlan(plan)
    expect(await store.getPlan(plan.digest)).toEqual(plan)
  })

  test('a plan of 3,000 batches is read and digested once for all its steps', async () => {
    const names = Array.from({ length: 3_000 }, (_, n) => ({ name: `tag-${n}` }))
    const long = makeTagPlan('00000000-0000-4000-8000-000000000001', 'http://127.0.0.1:1', names)
    await store.putPlan(long)
    const read = new Set<Plan>()
    for (const { index } of long.batches) {
      const got = await store.getPlan(long.digest)
      expect(got.batches[index]!.index).toBe(index)
      read.add(got)
    }
    // Each reading of the file makes another object.
    expect(read.size).toBe(1)
    expect(await createPlanStore(join(folder, 'plans-and-bodies')).getPlan(long.digest)).not.toBe([...read][0])
  })

  test('a plan that was read before is refused once its file is edited, and missing once it is gone', async () => {
    await store.putPlan(plan)
    const [path] = files()
    const [text, { atime, mtime, size }] = [readFileSync(path!, 'utf8'), statSync(path!)]
    await store.getPlan(plan.digest)
    // As long as before and with the old times: the file tells that it was written all the same.
    await new Promise((resolve) => setTimeout(resolve, 20))
    writeFileSync(path!, text.replace('create tag a', 'create tag b'))
    utimesSync(path!, atime, mtime)
    expect(statSync(path!).size).toBe(size)
    await expect(store.getPlan(plan.digest)).rejects.toMatchObject({ code: 'apply/plan-edited' })
    writeFileSync(path!, text)
    expect(await store.getPlan(plan.digest)).toEqual(plan)
    rmSync(path!)
    await expect(store.getPlan(plan.digest)).rejects.toMatchObject({ code: 'apply/plan-missing' })
  })

  test('the plans of many applies at once are each read once, and of more than eight the oldest is let go', async () => {
    const plans = Array.from({ length: 9 }, (_, n) =>
      makeTagPlan('00000000-0000-4000-8000-000000000001', 'http://127.0.0.1:1', [{ name: `tag-${n}` }]),
    )
    for (const one of plans) await store.putPlan(one)
    const read = async (some: readonly Plan[]) => {
      const got: Plan[] = []
      for (const { digest } of some) got.push(await store.getPlan(digest))
      return got
    }
    const [first, ...others] = await read(plans)
    const again = await read(plans.slice(1))
    expect(again.map((one, at) => one === others[at])).toEqual(others.map(() => true))
    expect((await read(plans.slice(0, 1)))[0]).not.toBe(first)
  })

  test('a body comes back byte for byte under its fingerprint', async () => {
    const body = '{ "b":1, "a":"é\\u0061" }\n'
    const fingerprint = await store.putBody(body)
    // sha256sum of these bytes.
    expect(fingerprint).toBe('sha256:5eddeb8552b69f61f39bd393e99dfbcdb071bda144c712f3eab5b4448981f501')
    expect(await store.getBody(fingerprint)).toBe(body)
    expect(await store.putBody(body)).toBe(fingerprint)
  })

  test('a plan with any byte changed in the store is refused', async () => {
    await store.putPlan(plan)
    const [path] = files()
    const text = readFileSync(path!, 'utf8')
    for (let at = 0; at < text.length; at += 7) {
      const changed = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)
      writeFileSync(path!, changed)
      // Edits are further apart than the clock of the files is coarse.
      utimesSync(path!, at, at)
      const read = store.getPlan(plan.digest).then(
        (other) => ({ createdAt: other.createdAt, digest: other.digest }),
        (error: { code: string }) => error.code,
      )
      // The moment it was made is not part of what a plan says.
      const outcome = await read
      if (typeof outcome === 'string') expect(outcome).toBe('apply/plan-edited')
      else expect([outcome.createdAt === plan.createdAt, outcome.digest === plan.digest]).not.toEqual([true, true])
    }
  })

  test('a plan whose digest is not its own is not taken', async () => {
    await expect(store.putPlan({ ...plan, digest: '0'.repeat(64) })).rejects.toMatchObject({
      code: 'apply/plan-edited',
    })
    expect(files()).toEqual([])
  })

  test('a damaged body is never sent', async () => {
    const fingerprint = await store.putBody('{"a":1}')
    writeFileSync(files()[0]!, '{"a":2}')
    await expect(store.getBody(fingerprint)).rejects.toMatchObject({ code: 'apply/body-missing' })
  })

  test.each(['../../etc/passwd', '', 'sha256:zz'])('what is no digest reads no file: `%s`', async (digest) => {
    await expect(store.getPlan(digest)).rejects.toMatchObject({ code: 'apply/plan-missing' })
    await expect(store.getPlan('0'.repeat(64))).rejects.toMatchObject({ code: 'apply/plan-missing' })
  })

  test('only its owner may read it', async () => {
    await store.putPlan(plan)
    await store.putBody('{}')
    await store.spend(plan.digest, 'run-1')
    expect(files()).toHaveLength(3)
    for (const path of files()) expect(statSync(path).mode & 0o077).toBe(0)
    expect(statSync(join(folder, 'plans-and-bodies')).mode & 0o077).toBe(0)
  })

  test('of many runs that spend a plan at once, one is the first, for all of them', async () => {
    const runs = Array.from({ length: 20 }, (_, n) => `run-${n}`)
    const firsts = await Promise.all(runs.map((run) => createPlanStore(join(folder, 'shared')).spend(plan.digest, run)))
    expect(new Set(firsts).size).toBe(1)
    expect(files()).toHaveLength(1)
  })

  test('the outcome of a plan is kept', async () => {
    expect(await store.getOutcome(plan)).toBeUndefined()
    const outcome: ApplyProgress = {
      planDigest: plan.digest,
      state: 'done',
      startedAt: '2026-01-01T00:00:00.000Z',
      batches: [],
    }
    await store.putOutcome(plan, outcome)
    expect(await store.getOutcome(plan)).toEqual(outcome)
    // A plan of another time is another one, also when it says the same.
    expect(await store.getOutcome({ ...plan, createdAt: '2026-01-02T00:00:00.000Z' })).toBeUndefined()
  })

  test('a folder that cannot be written is an error that names it and may pass', async () => {
    writeFileSync(join(folder, 'file'), '')
    const fault = createPlanStore(join(folder, 'file')).putBody('{}')
    await expect(fault).rejects.toMatchObject({
      code: 'apply/store-failed',
      message: expect.stringContaining('ENOTDIR'),
    })
  })
})
