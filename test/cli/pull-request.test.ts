/**
 * Apply from Git, as a pipeline does it: an organization that is as its definitions say, a pull request with three changes,
 * and everything that may happen on the way. One process for each apply, against a real service and a real Temporal server.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ApplyProgress } from '../../activities/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { type Plan, readPlan } from '../../src/plan/index.ts'
import { type Between, type Fault, startBetween } from '../faults/between.ts'
import { keyFile, quorate, quorateShared, writeFiles } from './harness.ts'
import { scene } from './scene.ts'

// Each test runs the CLI many times, and each run is a process that starts from nothing.
vi.setConfig({ testTimeout: 600_000 })

const range = (count: number) => Array.from({ length: count }, (_, index) => index)
const keys = range(22).map(() => generateP256KeyPair())

/** A repository of 22 users, 30 policies, 10 wallets and 2 webhooks, with what a pull request changes in it. */
interface Repository {
  readonly tags?: readonly string[]
  readonly guests?: readonly string[]
  /** Who signs by a policy, by its number, where it is not `u1`. */
  readonly signers?: Readonly<Record<number, string>>
  readonly reversed?: boolean
}

function repository(rootKey: string, { tags = TAGS, guests = [], signers = {}, reversed = false }: Repository) {
  const order = <T>(list: readonly T[]) => (reversed ? [...list].reverse() : list)
  const section = (name: string, lines: readonly string[]) =>
    `${name}:\n${order(lines)
      .map((line) => `  ${line}\n`)
      .join('')}`
  const people = range(21).map((n) => {
    const apiKeys = `{ laptop: { curve: P256, publicKey: ${keys[n]!.publicKey} } }`
    return `u${n + 1}: { email: u${n + 1}@acme.test, tags: [t0], apiKeys: ${apiKeys} }`
  })
  const policies = range(30).map((n) => {
    const who = `approvers.any(user, user.id == '\${user.${signers[n] ?? 'u1'}}')`
    const what = `activity.kind == 'SIGN_TRANSACTION' && wallet.id == '\${wallet.w${n % 10}}' && eth.tx.value < ${n + 1}`
    return `p${n}: { effect: allow, consensus: ${JSON.stringify(who)}, condition: ${JSON.stringify(what)} }`
  })
  const texts: Readonly<Record<string, string>> = {
    'organization.yaml': `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
manage: { tags: all }
rootQuorum: { threshold: 1, users: [root] }
features: { EMAIL_AUTH: true }
${section(
  'tags',
  tags.map((name) => `${name}: {}`),
)}`,
    'people.yaml': section('users', [
      `root: { apiKeys: { root: { curve: P256, publicKey: ${rootKey} } } }`,
      ...people,
      ...guests.map((name) => `${name}: { email: ${name}@acme.test }`),
    ]),
    'policies.yaml': section('policies', policies),
    'rest.yaml': `${section(
      'wallets',
      range(10).map((n) => `w${n}: {}`),
    )}
${section(
  'webhooks',
  range(2).map((n) => `hook${n}: { url: "https://8.8.8.8/in/${n}", subscriptions: [ACTIVITY_UPDATES] }`),
)}`,
  }
  return texts
}
const TAGS = ['t0', 't1', 't2', 't3', 't4']

/** The organization as its definitions say, and what stands between it and everybody. */
async function merged() {
  let between: Between | undefined
  const made = await scene({
    at: async ({ url }) => {
      between = await startBetween(url)
      return between.url
    },
  })
  onTestFinished(() => between!.close())
  const { service, folder, env } = made
  const write = (change: Repository) => writeFiles(join(folder, 'defs'), repository(service.root.publicKey, change))
  const defs = write({})
  const first = await quorate(['apply', defs, '--yes'], { env })
  expect(first.exit, first.stderr).toBe(0)
  const submits = () => between!.passed.filter((one) => one.submits)
  return { ...made, defs, write, between: between!, submits }
}

const pullRequest: Repository = { tags: TAGS.slice(0, 4), guests: ['newcomer'], signers: { 3: 'u2' } }

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

  test('whatever happens to the second of its three activities, everything comes to be once', async () => {
    const { service, env, defs, write, between } = await merged()
    const faults: readonly { readonly name: string; readonly fault: Fault; readonly times: number }[] = [
      { name: 'a 500', fault: { kind: 'answer', status: 500 }, times: 2 },
      { name: 'a connection that is cut after the request was carried out', fault: { kind: 'cut after' }, times: 1 },
      { name: 'a 429, twenty times', fault: { kind: 'answer', status: 429, retryAfter: '1' }, times: 20 },
    ]
    const state: { tags: readonly string[]; guests: readonly string[]; signers: Record<number, string> } = {
      tags: TAGS,
      guests: [],
      signers: {},
    }
    for (const [index, { name, fault, times }] of faults.entries()) {
      state.tags = [...state.tags.filter((tag) => tag !== `t${index + 1}`), `more${index}`, `most${index}`]
      state.guests = [...state.guests, `guest${index}`]
      state.signers[index] = 'u3'
      write(state)
      const asked = new Set<number>()
      let left = times
      between.meddle = ({ submits, question }) => {
        if (submits) asked.add(question)
        return [...asked][1] === question && left-- > 0 ? fault : undefined
      }
      const ran = await quorate(['apply', defs, '--yes', '--allow-delete', '--json'], { env })
      between.meddle = () => undefined
      expect(left, name + ran.stdout + ran.stderr).toBeLessThanOrEqual(0)
      expect((JSON.parse(ran.stdout) as ApplyProgress).state, name + ran.stderr).toBe('done')
      const next = await quorateShared(['plan', defs, '--detailed-exitcode'], { env })
      expect([name, next.exit, next.stdout.includes('No changes.')]).toEqual([name, 0, true])
      const { users } = await service.root.query('list_users')
      expect(
        users.filter(({ userName }) => userName === `guest${index}`),
        name,
      ).toHaveLength(1)
    }
    const { activities } = await service.root.query('list_activities', { paginationOptions: { limit: '100' } })
    const said = activities.map(({ type, intent }) => JSON.stringify([type, intent]))
    expect(new Set(said).size).toBe(said.length)
  })

  test('that needs a second person ends in seconds, says who can vote, and goes on when they did', async () => {
    const { service, folder, env, defs, write } = await merged()
    const organization = (text: string) =>
      writeFiles(defs, {
        'organization.yaml': text.replace('threshold: 1, users: [root]', 'threshold: 2, users: [root, u1]'),
      })
    const file = join(defs, 'organization.yaml')
    organization(readFileSync(file, 'utf8'))
    expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(0)

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
    const again = await quorate(['apply', defs, '--yes', '--json'], { env })
    expect((JSON.parse(again.stdout) as ApplyProgress).batches[0]).toMatchObject({ activityId: batch!.activityId })
    expect(await count()).toBe(before)
    const key = keyFile(folder, 'u1', keys[0]!.privateKey)
    expect((await quorate(['approve', batch!.activityId!, '--yes', '--key-file', key], { env })).exit).toBe(0)
    await vi.waitUntil(async () => (await quorate(['apply', defs, '--yes'], { env })).exit === 0, { timeout: 120_000 })
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
    const refused = await quorate(['apply', edited, '--yes'], { env })
    expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('error plan/edited')])

    const { policies } = await service.root.query('list_policies')
    const { policyId } = policies.find(({ policyName }) => policyName === 'p3')!
    await service.root.submit('ACTIVITY_TYPE_UPDATE_POLICY_V2', { policyId, policyCondition: 'true' })
    const stale = await quorate(['apply', saved, '--yes'], { env })
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
    const applied = await quorate(['apply', saved, '--yes'], { env })
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
    const refused = await quorate(['apply', defs, '--yes', '--allow-delete'], { env: reader })
    expect(refused.exit).toBe(1)
    expect(refused.stderr).toMatch(
      /error cli\/denied: u7 may not create user newcomer: no policy allows it\n(.*\n)* {2}submitted +nothing\n/,
    )

    writeFiles(defs, {
      'policies.yaml': readFileSync(join(defs, 'policies.yaml'), 'utf8').replace('effect: allow', 'efect: allow'),
    })
    for (const command of ['plan', 'apply']) {
      const faulty = await quorate([command, defs, '--yes'].slice(0, command === 'plan' ? 2 : 3), { env })
      expect(faulty.exit, faulty.stderr).toBe(1)
      expect(faulty.stderr).toMatch(/policies\.yaml:2:9: error .*efect/)
    }
    expect(submits().length).toBe(before)
  })
})
