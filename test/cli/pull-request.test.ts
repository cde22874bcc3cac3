/**
 * Apply from Git, as a pipeline does it: an organization that is as its definitions say, and a pull request with three changes.
 * `pull-request.long.ts` has what may happen on the way.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { ApplyProgress } from '../../activities/index.ts'
import { type Plan, readPlan } from '../../src/plan/index.ts'
import { keyFile, quorate, quorateShared, writeFiles } from './harness.ts'
import { keys, merged, pullRequest } from './pull-request.ts'

// Each test runs the CLI many times.
vi.setConfig({ testTimeout: 600_000 })

describe('a pull request', () => {
  test('is planned as three changes, exactly as often as asked, and nothing is submitted', async () => {
    const { env, defs, write, submits, folder } = await merged()
    const before = submits().length
    const same = await quorateShared(['plan', defs, '--detailed-exitcode'], { env })
    expect(same.stdout).toContain('No changes.')
    expect(same.exit).toBe(0)

    write(pullRequest)
    const refused = await quorateShared(['plan', defs], { env })
    expect(refused.stdout).toContain('refused: the plan deletes `tag.t4`; to let it pass, add --allow-delete')
    expect(refused.exit).toBe(4)
    const shown = await quorateShared(['plan', defs, '--detailed-exitcode', '--allow-delete'], { env })
    expect(shown.exit).toBe(2)
    expect(shown.stdout.split('\n')[0]).toBe('acme: 3 changes in 3 activities')
    expect(shown.stdout).toMatch(/- tag\.t4 .*taken out of the definitions$/m)
    expect(shown.stdout).toMatch(/\+ user\.newcomer .*\n {4}email +newcomer@acme\.test$/m)
    expect(shown.stdout).toMatch(
      /~ policy\.p3 .*its definition changed\n {4}consensus +- .*user\.u1.*\n +\+ .*user\.u2/m,
    )
    expect(shown.stdout).toMatch(/~ sign transaction \(ethereum\) of wallet\.w3\n +before .*\n(.*u1.*\n)+ +after /m)
    expect(shown.stdout).toMatch(/^ +u2 gains: alone below 4 wei$/m)
    expect(shown.stdout).toContain('no change in any other power')

    const json = async () => (await quorateShared(['plan', defs, '--json', '--allow-delete'], { env })).stdout
    const [one, two] = [await json(), await json()]
    const timeless = (text: string) => text.replace(/"(createdAt|seal)": "[^"]*"/g, '')
    expect(timeless(two)).toBe(timeless(one))
    // Other files, and another order in them: only the places are others.
    write({ ...pullRequest, reversed: true })
    for (const name of ['organization', 'policies', 'rest'])
      renameSync(join(defs, `${name}.yaml`), join(defs, `z-${name}.yaml`))
    const placeless = ({
      createdAt: _when,
      digest: _digest,
      seal: _seal,
      changes,
      ...plan
    }: Plan & { seal?: unknown }) => ({
      ...plan,
      changes: changes.map(({ at: _at, ...change }) => change),
    })
    expect(placeless(readPlan(await json()))).toEqual(placeless(readPlan(one)))
    expect(existsSync(join(folder, 'defs', 'quorate.lock.yaml'))).toBe(true)

    // Nearly all tags: leave to delete is not leave to delete this many.
    writeFiles(defs, {
      'z-organization.yaml': readFileSync(join(defs, 'z-organization.yaml'), 'utf8').replace(/ {2}t[1-3]: \{\}\n/g, ''),
    })
    const many = await quorateShared(['plan', defs, '--allow-delete'], { env })
    expect(many.stdout).toContain(
      'refused: deleting 4 of 5 tags is 80 %, over 30 %; to let it pass, add --allow deletes=4',
    )
    expect(many.exit).toBe(4)
    expect(submits().length).toBe(before)
  })

  test('that needs a second person ends in seconds, says who can vote, and goes on when they did', async () => {
    const { service, folder, env, defs, write } = await merged()
    const organization = (text: string) =>
      writeFiles(defs, {
        'organization.yaml': text.replace('threshold: 1, users: [root]', 'threshold: 2, users: [root, u1]'),
      })
    const file = join(defs, 'organization.yaml')
    organization(readFileSync(file, 'utf8'))
    expect((await quorateShared(['apply', defs, '--yes'], { env })).exit).toBe(0)

    write({ guests: ['newcomer'] })
    organization(readFileSync(file, 'utf8'))
    const planned = performance.now()
    await quorate(['plan', defs], { env })
    const started = performance.now()
    const waits = await quorate(['apply', defs, '--yes', '--json'], { env })
    // Beside what planning alone takes a process on this machine now, which an apply does as well.
    const beyond = performance.now() - started - (started - planned)
    expect(waits.exit, waits.stderr).toBe(3)
    expect(beyond).toBeLessThan(10_000 + 3 * (started - planned))
    expect(waits.stderr).toMatch(/[0-9a-f]{4}-[0-9a-f]{4} .*create user newcomer, waits for u1/)
    const [batch] = (JSON.parse(waits.stdout) as ApplyProgress).batches
    expect(batch).toMatchObject({ state: 'waiting', activityId: expect.any(String), fingerprint: expect.any(String) })

    const count = async () =>
      (await service.root.query('list_activities', { paginationOptions: { limit: '100' } })).activities.length
    const before = await count()
    const again = await quorateShared(['apply', defs, '--yes', '--json'], { env })
    expect((JSON.parse(again.stdout) as ApplyProgress).batches[0]).toMatchObject({ activityId: batch!.activityId })
    expect(await count()).toBe(before)
    const key = keyFile(folder, 'u1', keys[0]!.privateKey)
    expect((await quorateShared(['approve', batch!.activityId!, '--yes', '--key-file', key], { env })).exit).toBe(0)
    await vi.waitUntil(async () => (await quorateShared(['apply', defs, '--yes'], { env })).exit === 0, {
      timeout: 120_000,
    })
    expect(await count()).toBe(before)
    expect((await quorateShared(['plan', defs, '--detailed-exitcode'], { env })).exit).toBe(0)
  })

  test('that was saved as a plan is that plan and nothing else, and stale once the organization moved', async () => {
    const { service, folder, env, defs, write, submits } = await merged()
    write(pullRequest)
    const saved = join(folder, 'plan.json')
    const save = () => quorateShared(['plan', defs, '--allow-delete', '--out', saved], { env })
    expect((await save()).exit).toBe(0)
    const before = submits().length

    const text = readFileSync(saved, 'utf8')
    const edited = join(folder, 'edited.json')
    writeFileSync(edited, text.replace('newcomer@acme.test', 'newcomes@acme.test'))
    const refused = await quorateShared(['apply', edited, '--yes'], { env })
    expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('error plan/edited')])

    const { policies } = await service.root.query('list_policies')
    const { policyId } = policies.find(({ policyName }) => policyName === 'p3')!
    await service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId, policyCondition: 'true' })
    const stale = await quorateShared(['apply', saved, '--yes'], { env })
    expect(stale.exit, stale.stderr).toBe(5)
    expect(stale.stderr).toContain('policy.p3')
    expect(stale.stderr).toContain('next: make the plan again')
    const standing = await quorateShared(['status'], { env })
    expect([standing.exit, standing.stdout]).toEqual([
      5,
      expect.stringContaining('`policy.p3` has another `condition`'),
    ])
    expect(standing.stdout).toContain('next: make the plan again')
    expect(submits().length).toBe(before)

    expect((await save()).exit).toBe(0)
    const applied = await quorateShared(['apply', saved, '--yes'], { env })
    expect(applied.exit, applied.stderr).toBe(0)
    expect(submits().length).toBe(before + 3)
    const next = await quorateShared(['plan', defs, '--detailed-exitcode'], { env })
    expect([next.exit, next.stdout.includes('No changes.')]).toEqual([0, true])
  })

  test('with a fault in it says file, line and field, and by a key that may only read it is planned and not applied', async () => {
    const { folder, env, defs, write, submits } = await merged()
    const before = submits().length
    write(pullRequest)
    const reader = { ...env, QUORATE_API_KEY_FILE: keyFile(folder, 'u7', keys[6]!.privateKey) }
    const planned = await quorateShared(['plan', defs, '--detailed-exitcode', '--allow-delete'], { env: reader })
    expect(planned.exit, planned.stderr).toBe(2)
    expect(planned.stdout).toContain('acme: 3 changes in 3 activities')
    const refused = await quorateShared(['apply', defs, '--yes', '--allow-delete'], { env: reader })
    expect(refused.exit).toBe(4)
    expect(refused.stderr).toMatch(
      /error cli\/denied: u7 may not create user newcomer: no policy allows it\n(.*\n)* {2}submitted +nothing\n/,
    )

    writeFiles(defs, {
      'policies.yaml': readFileSync(join(defs, 'policies.yaml'), 'utf8').replace('effect: allow', 'efect: allow'),
    })
    for (const command of ['plan', 'apply']) {
      const faulty = await quorateShared([command, defs, '--yes'].slice(0, command === 'plan' ? 2 : 3), { env })
      expect(faulty.exit, faulty.stderr).toBe(1)
      expect(faulty.stderr).toMatch(/policies\.yaml:2:9: error .*efect/)
    }
    expect(submits().length).toBe(before)
  })
})
