/** Pushes in a plan store whose files somebody else may write, and what a watch takes of them. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  createActivities,
  createPlanStore,
  definitionsText,
  type PlanStore,
  type Push,
  pushText,
  type Watch,
  type WatchedDefinitions,
} from '../../activities/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { digestOf, type Plan } from '../../src/plan/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret, silentLogger } from '../../src/telemetry/index.ts'
import { testFolder } from '../cli/harness.ts'
import { makeTagPlan } from '../workflows/tag-plan.ts'

const ORGANIZATION = '10000000-0000-4000-8000-000000000001'
const START = Date.parse('2026-01-01T00:00:00Z')

const keyPair = () => {
  const { publicKey, privateKey } = generateP256KeyPair()
  return { publicKey, stamper: createApiKeyStamper({ privateKey: new Secret(privateKey) }) }
}
const [ci, other] = [keyPair(), keyPair()]

let folder: string
let store: PlanStore
let nowMs: number
/** Names of the definitions that were planned, in order. */
let planned: string[]
/** What is to be put back; absent where all is as defined. */
let driftedPlan: Plan | undefined
beforeEach(() => {
  driftedPlan = undefined
  folder = join(testFolder(), 'plans')
  store = createPlanStore(folder)
  nowMs = START
  planned = []
})

const named = (name: string): WatchedDefinitions => ({
  format: 'quorate.definitions/1',
  folder: name,
  folders: {},
  files: {},
})

async function push(
  name: string,
  { by = ci, at = START, ...more }: { by?: typeof ci; at?: number } & Partial<Push> = {},
) {
  const definitions = named(name)
  const push: Push = {
    format: 'quorate.push/1',
    organizationId: ORGANIZATION,
    definitions: definitionsText(definitions).digest,
    given: { env: {}, vars: {} },
    pushedAt: new Date(at).toISOString(),
    ...more,
  }
  await store.pushes.put({ push, signature: (await by.stamper.stamp(pushText(push))).value }, definitions)
}

const newest = (since?: string, keys = [ci.publicKey]) => store.pushes.newest(ORGANIZATION, { keys, nowMs, since })
const pushFile = () => join(folder, 'pushes', readdirSync(join(folder, 'pushes'))[0]!)

describe('push: what is taken', () => {
  test('the newest of those that the named keys have signed', async () => {
    await push('one')
    await push('two', { at: START + 1000 })
    await push('three', { by: other, at: START + 2000 })
    expect(await newest()).toMatchObject({ definitions: { folder: 'two' }, by: ci.publicKey })
    expect(await newest(undefined, [ci.publicKey, other.publicKey])).toMatchObject({ by: other.publicKey })
  })

  test('nothing of a key that is not named, though its push lies in the place of one that is', async () => {
    await push('one')
    const theirs = readFileSync(pushFile(), 'utf8')
    await push('evil', { by: other, at: START + 1000 })
    const evil = readdirSync(join(folder, 'pushes')).map((name) => readFileSync(join(folder, 'pushes', name), 'utf8'))
    writeFileSync(
      join(
        folder,
        'pushes',
        readdirSync(join(folder, 'pushes')).find(
          (name) => readFileSync(join(folder, 'pushes', name), 'utf8') === theirs,
        )!,
      ),
      evil.find((text) => text !== theirs)!,
    )
    await expect(newest()).rejects.toMatchObject({ code: 'apply/push-refused' })
  })

  test.each([
    { name: 'the digest', edit: (text: string) => text.replace(/"definitions":"./, '"definitions":"f') },
    { name: 'the time', edit: (text: string) => text.replace('2026-01-01T00:00:00.000Z', '2026-01-01T00:01:00.000Z') },
    { name: 'a value', edit: (text: string) => text.replace('"vars":{}', '"vars":{"x":"1"}') },
    { name: 'the form', edit: () => '{}' },
  ])('nothing where somebody has changed $name', async ({ edit }) => {
    await push('one')
    const before = readFileSync(pushFile(), 'utf8')
    expect(edit(before)).not.toBe(before)
    writeFileSync(pushFile(), edit(before))
    await expect(newest()).rejects.toMatchObject({ code: 'apply/push-refused' })
  })

  test('nothing whose definitions are not those of the digest, from the future, or older than what was taken', async () => {
    await push('one')
    await expect(newest(new Date(START + 1).toISOString())).rejects.toMatchObject({
      message: expect.stringContaining('was taken before'),
    })
    writeFileSync(join(folder, 'definitions', definitionsText(named('one')).digest), JSON.stringify(named('evil')))
    await expect(newest()).rejects.toMatchObject({ message: expect.stringContaining('as they were pushed') })
    await push('later', { at: START + 10 * 60_000 })
    await expect(newest()).rejects.toMatchObject({ message: expect.stringContaining('in the future') })
    nowMs += 6 * 60_000
    expect(await newest()).toMatchObject({ definitions: { folder: 'later' } })
  })

  test('an older push with the same key is refused as it is made', async () => {
    await push('two', { at: START + 1000 })
    await expect(push('one')).rejects.toMatchObject({ code: 'apply/push-refused' })
    expect(await newest()).toMatchObject({ definitions: { folder: 'two' } })
  })
})

describe('watch: definitions that were pushed', () => {
  const steps = () =>
    createActivities({
      clientFor: () => ({ publicKey: '02ab', query: async () => ({ activities: [] }) }) as never,
      planStore: store,
      clock: () => nowMs,
      logger: silentLogger,
      planWatched: async ({ definitions }) => {
        planned.push(definitions.folder)
        const plan = driftedPlan ?? makeTagPlan(ORGANIZATION, 'http://127.0.0.1:1', [])
        return {
          plan,
          lock: () => ({}),
          vouched: {},
          settings: { modes: { policy: 'repair' } },
          assertApplicable: () => {},
        }
      },
    })
  const look = () => steps().lookAround({ organizationId: ORGANIZATION })
  const state = async () => (await store.watches.stateOf(ORGANIZATION))!

  async function watch(more: Partial<Watch> = {}) {
    await push('one')
    await store.watches.put({
      ...{ organizationId: ORGANIZATION, organization: 'acme', baseUrl: '', definitions: '', modes: {} },
      ...{ given: { env: {}, vars: {} }, everyMs: 60_000, sweepMs: 3_600_000, since: '' },
      source: { kind: 'push', keys: [ci.publicKey] },
      ...more,
    })
  }

  test('are taken as they come, each planned once, with what they say of the watch', async () => {
    await watch()
    await look()
    await look()
    await push('two', { at: START + 1000 })
    await look()
    expect(planned).toEqual(['one', 'two'])
    expect((await state()).taken).toEqual({ at: '2026-01-01T00:00:01.000Z', by: ci.publicKey })
    expect((await store.watches.takenOf(ORGANIZATION))!.settings).toEqual({ modes: { policy: 'repair' } })
  })

  test('that are put back are held: those before count, until a newer push comes', async () => {
    await watch()
    await look()
    const old = readFileSync(pushFile(), 'utf8')
    await push('two', { at: START + 1000 })
    await look()
    writeFileSync(pushFile(), old)
    nowMs += 60_000
    expect((await look()).outcome).toBe('held')
    const { refused, definitions } = await state()
    expect(refused).toMatchObject({ code: 'apply/push-refused', since: '2026-01-01T00:01:00.000Z' })
    expect(definitions).toBe(definitionsText(named('two')).digest)
    nowMs += 60_000
    await look()
    expect((await state()).refused!.since).toBe(refused!.since)
    await push('three', { at: nowMs })
    expect((await look()).outcome).toBe('as defined')
    expect((await state()).refused).toBeUndefined()
    expect(planned).toEqual(['one', 'two', 'two', 'three'])
  })

  test('that are held keep repairs from beginning, and let them go on afterwards', async () => {
    await watch({ modes: { tag: 'repair' } })
    await look()
    const old = readFileSync(pushFile(), 'utf8')
    await push('two', { at: START + 1000 })
    await look()
    writeFileSync(pushFile(), old)
    const plan = makeTagPlan(ORGANIZATION, 'http://127.0.0.1:1', [{ name: 'treasury' }])
    const change = {
      address: 'tag.treasury',
      kind: 'tag',
      action: 'create',
      cause: 'live changed',
      fields: [],
    } as const
    const whole: Plan = { ...plan, changes: [{ ...change, batch: 0, author: null }] }
    driftedPlan = { ...whole, digest: digestOf(whole) }
    expect(await look()).toEqual({ outcome: 'held', drift: 1 })
    expect((await state()).proposal).toBeDefined()
    await push('three', { at: START + 2000 })
    expect(await look()).toMatchObject({ outcome: 'drift', drift: 1, repair: expect.any(String) })
  })

  test('that are taken away leave those before in force, and it is said that none come', async () => {
    await watch()
    await look()
    writeFileSync(pushFile(), '')
    expect((await look()).outcome).toBe('held')
    rmSync(pushFile())
    expect((await look()).outcome).toBe('as defined')
    expect((await state()).away).toMatchObject({ code: 'apply/nothing-pushed' })
  })
})
