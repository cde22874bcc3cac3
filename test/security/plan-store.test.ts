/**
 * An attacker who writes to the plan store and has nothing else of the data folder: no record that they change, make, or put in
 * another's place is believed.
 */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { createPlanStore, type PlanStore } from '../../activities/index.ts'
import { createRecords } from '../../activities/records.ts'
import { openStoreFiles } from '../../activities/store-opened.ts'
import { orderOf } from '../activities/order.ts'
import { testFolder } from '../cli/harness.ts'
import { batchOf } from '../workflows/send-stage.ts'
import { makeTagPlan, planWithInside } from '../workflows/tag-plan.ts'

const ORGANIZATION = '00000000-0000-4000-8000-000000000001'
const plan = makeTagPlan(ORGANIZATION, 'http://127.0.0.1:1', [{ name: 'a' }])
const refused = { code: 'apply/record-refused' }

let folder: string
let store: PlanStore
beforeEach(async () => {
  folder = join(testFolder(), 'plans')
  store = createPlanStore(folder)
  await fill()
})

/** Two of everything that is ever recorded. */
async function fill(): Promise<void> {
  await store.putPlan(plan)
  for (const name of ['one', 'two']) {
    await store.putPlan(planWithInside(plan, [makeTagPlan(`of-${name}`, 'http://127.0.0.1:1', [{ name }])]))
    const run = { planDigest: plan.digest, run: await store.runs.open(plan.digest) }
    await store.runs.setFresh(run)
    await store.spend(plan.digest, await store.runs.begin(run))
    const batch = await store.runs.batch(run, 0)
    await batch.refuseBody(await batch.enterBody(await store.putBody(`{"of":"${name}"}`)))
    await batch.setActivity(`activity-${name}`)
    await batch.setDone({ 'tag.a': `id-${name}` })
    await store.putOutcome(plan, { planDigest: plan.digest, state: 'cancelled', startedAt: name, batches: [] })
    await store.runs.end(run)

    const { sendId } = await store.sends.enter(orderOf(name))
    const entry = await store.sends.getEntry(sendId)
    const body = (await store.sends.enterBody(entry, await store.putBody(`{"pays":"${name}"}`)))!
    await store.sends.letOut(entry, body)
    await store.sends.letOut(entry, body)
    await store.sends.refuseBody(entry, body)
    await store.sends.setMade(entry, { activityId: `made-${name}`, sendTransactionStatusId: `status-${name}` })
    await store.sends.putProgress({ sendId, reference: name, state: 'broadcasting' })
    await store.sends.claimLook(name, orderOf(name))
    await store.sends.setFinal(sendId, { transactionHash: '0x1', block: '1', confirmations: 1 })
    const batchOfOne = batchOf([orderOf(`row-${name}`)])
    await store.batches.put(batchOfOne)
    await store.sends.enter(orderOf(`row-${name}`))
    await store.batches.stop(batchOfOne, new Date())
  }
}

/** Files that are believed because they lie there; plans and bodies are what their digests say. */
function records(): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/^(plans|bodies)$/.test(shelfOf(path)))
}
const shelfOf = (path: string) => relative(folder, dirname(path))
const again = () => createRecords(folder, openStoreFiles(folder))

test('every shelf of the ledgers is one of records', () => {
  expect([...new Set(records().map(shelfOf))].sort()).toEqual(
    [
      ...[
        'insides',
        'outcomes',
        'run-activities',
        'run-batches-done',
        'run-bodies',
        'run-bodies-refused',
        'run-current',
      ],
      ...['run-ends', 'run-fresh', 'run-unlocked', 'runs', 'send-activities', 'send-batch-stops', 'send-batches'],
      ...[
        'send-bodies',
        'send-bodies-refused',
        'send-body-owners',
        'send-finals',
        'send-gates',
        'send-gates-settled',
        'send-looks',
        'send-progress',
      ],
      ...['send-statuses', 'send-stops', 'send-stops-asked', 'sends', 'spent'],
    ].sort(),
  )
})

test('no record is believed that was changed, made, or put in the place of another', async () => {
  const all = records()
  const reader = again()
  expect(all.length).toBeGreaterThan(35)
  for (const path of all) {
    const [text, kept] = [readFileSync(path, 'utf8'), `${folder}.kept`]
    expect(await reader.read(path)).toBe(text.replace(/\nquorate-mac\/[12] .*$/, ''))
    copyFileSync(path, kept)
    const spoilt = [
      text.replace(/\n.*$/, ''),
      `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`,
      `x${text}`,
      `${text}\n`,
      '',
      // One of the same shelf, or of another: names lie beside each other.
      ...[...all, ...all]
        .slice(all.indexOf(path) + 1, all.indexOf(path) + 3)
        .map((other) => readFileSync(other, 'utf8')),
    ]
    for (const one of spoilt) {
      writeFileSync(path, one)
      await expect(reader.read(path)).rejects.toMatchObject(refused)
    }
    renameSync(kept, path)
  }
})

test('a record that was taken away is missed, by its name: when it is read, made again, or listed', async () => {
  const passing = /^(run-unlocked|send-gates|send-batch-stops)$/
  const all = records().filter((path) => !passing.test(shelfOf(path)))
  expect(all.length).toBeGreaterThan(35)
  for (const path of all) {
    const [reader, kept] = [again(), `${folder}.kept`]
    renameSync(path, kept)
    const gone = { code: 'apply/record-missing', message: expect.stringContaining(path) }
    await expect(reader.read(path)).rejects.toMatchObject(gone)
    await expect(reader.claim(path, 'of the attacker')).rejects.toMatchObject(gone)
    if (/^[0-9a-f]{64}$/.test(basename(path))) await expect(reader.list(dirname(path))).rejects.toMatchObject(gone)
    expect(existsSync(path)).toBe(false)
    renameSync(kept, path)
    await reader.read(path)
  }
  // One that was never made is not missed, and one whose maker died before its name was written is named by its next reader.
  const never = join(folder, 'spent', 'f'.repeat(64))
  expect(await again().read(never)).toBeUndefined()
  const names = join(`${folder}.names`, readdirSync(`${folder}.names`).find((file) => file.startsWith('spent-'))!)
  rmSync(names)
  await store.spentBy(plan.digest)
  expect(readFileSync(names, 'utf8')).toBe(`${plan.digest.replace('sha256:', '')}\n`)
})

test('a record that is written while others look for it is not taken for one that was taken away', async () => {
  const path = join(folder, 'send-progress', 'a'.repeat(64))
  const stateOf = () =>
    [path, ...readdirSync(`${folder}.names`).map((name) => join(`${folder}.names`, name))].map(
      (file) => [file, existsSync(file) ? readFileSync(file) : undefined] as const,
    )
  const put = (state: ReturnType<typeof stateOf>) => {
    for (const [file] of stateOf()) rmSync(file, { force: true })
    // The record before its name, as a writer does.
    for (const [file, bytes] of state) if (bytes) writeFileSync(file, bytes, { mode: 0o600 })
  }
  const before = stateOf()
  await again().write(path, 'begun')
  const after = stateOf()
  const seen = new Set<string | undefined>()
  // The writer comes after so many turns of the event loop: before the look, between its two parts, after it.
  for (let turns = 0; turns < 60; turns++) {
    put(before)
    const look = again().read(path)
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    put(after)
    seen.add(await look)
  }
  expect([...seen].filter((text) => text !== undefined)).toEqual(['begun'])
})

test('a store whose shelves were all taken away is missed too', async () => {
  rmSync(folder, { recursive: true })
  await expect(createPlanStore(folder).spentBy(plan.digest)).rejects.toMatchObject({ code: 'apply/record-missing' })
})

test('names of a store that had none are taken from what lies there, by however many at once', async () => {
  rmSync(`${folder}.names`, { recursive: true })
  const [first] = records()
  await Promise.all([again(), again(), again()].map((one) => one.read(first!)))
  expect(readdirSync(dirname(folder)).sort()).toEqual(['plans', 'plans.key', 'plans.names'])
  const named = readdirSync(`${folder}.names`).flatMap((file) => {
    const lines = readFileSync(join(`${folder}.names`, file), 'utf8')
      .trim()
      .split('\n')
    return lines.map((line) => join(folder, file.slice(0, -3), line.split(' ', 1)[0]!))
  })
  expect([...new Set(named)].sort()).toEqual([...records()].sort())
})

describe('as it would be done', () => {
  test('a run that somebody lets in by a file of their own is not let in', async () => {
    const run = 'a token of the attacker'
    const id = createHash('sha256').update(run).digest('hex')
    for (const [shelf, text] of [
      ['runs', plan.digest],
      ['run-fresh', ''],
    ] as const) {
      writeFileSync(join(folder, shelf, id), text, { mode: 0o600 })
    }
    await expect(store.runs.assertOpen({ planDigest: plan.digest, run })).rejects.toMatchObject(refused)
  })

  test('an order that somebody adds, or changes before it is sent, is not sent', async () => {
    const order = orderOf('of-the-attacker')
    const sendId = createHash('sha256')
      .update(JSON.stringify([ORGANIZATION, order.reference]))
      .digest('hex')
    writeFileSync(join(folder, 'sends', sendId), JSON.stringify(order), { mode: 0o600 })
    await expect(store.sends.getEntry(sendId)).rejects.toMatchObject(refused)
    const { sendId: other } = await store.sends.enter(orderOf('INV-1'))
    const path = join(folder, 'sends', other)
    writeFileSync(path, readFileSync(path, 'utf8').replace('"0x02"', '"0xee"'))
    await expect(createPlanStore(folder).sends.getEntry(other)).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('was not written with its key'),
    })
  })

  test('a record of before that is put back under its own name is refused: of a run, of a send, of a batch, of an outcome', async () => {
    const run = { planDigest: plan.digest, run: await store.runs.open(plan.digest) }
    const later = { planDigest: plan.digest, run: await store.runs.open(plan.digest) }
    for (const one of [run, later]) await store.runs.setFresh(one)
    await store.runs.begin(run)
    const { sendId } = await store.sends.enter(orderOf('INV-7'))
    const batch = batchOf([orderOf('row-INV-7')])
    const outcome = { planDigest: plan.digest, state: 'done', startedAt: '', batches: [] } as const
    const writeAll = async (state: 'waiting' | 'included', of: typeof run) => {
      await store.sends.putProgress({ sendId, reference: 'INV-7', state })
      await store.batches.put({ ...batch, rows: state === 'waiting' ? [] : batch.rows })
      await store.putOutcome(plan, { ...outcome, state: state === 'waiting' ? 'cancelled' : 'done' })
      await store.runs.begin(of)
    }
    const written = () =>
      records().filter((path) => /^(send-progress|send-batches|outcomes|run-current)$/.test(shelfOf(path)))
    await writeAll('waiting', run)
    const before = new Map(written().map((path) => [path, readFileSync(path, 'utf8')]))
    await writeAll('included', later)
    const changed = written().filter((path) => readFileSync(path, 'utf8') !== before.get(path))
    expect(new Set(changed.map(shelfOf)).size).toBe(4)
    for (const path of changed) {
      const now = readFileSync(path, 'utf8')
      for (const old of [
        before.get(path)!,
        before.get(path)!.replace(/\nquorate-mac\/2 \d+ /, '\nquorate-mac/2 999 '),
      ]) {
        writeFileSync(path, old)
        await expect(again().read(path)).rejects.toMatchObject(refused)
      }
      writeFileSync(path, now)
      await again().read(path)
    }
    writeFileSync(
      changed.find((path) => shelfOf(path) === 'run-current')!,
      before.get(changed.find((path) => shelfOf(path) === 'run-current')!)!,
    )
    await expect(store.runs.batch(later, 0)).rejects.toMatchObject(refused)
  })

  test('a record whose writer died before its number was written, or that many write at once, is none of before', async () => {
    const path = join(folder, 'send-progress', 'b'.repeat(64))
    const names = join(`${folder}.names`, 'send-progress-bb')
    await again().write(path, 'one')
    const numbers = readFileSync(names, 'utf8')
    await again().write(path, 'two')
    writeFileSync(names, numbers)
    expect(await again().read(path)).toBe('two')
    const writers = Array.from({ length: 8 }, (_, at) => `of ${at}`)
    await Promise.all(writers.map((text) => again().write(path, text)))
    expect(writers).toContain(await again().read(path))
    await again().write(path, 'last')
    expect(await again().read(path)).toBe('last')
  })

  test('older records under their own names: a send that has bytes keeps them, and a run that is over stays over', async () => {
    const run = { planDigest: plan.digest, run: await store.runs.open(plan.digest) }
    await store.runs.setFresh(run)
    await store.runs.begin(run)
    const current = join(folder, 'run-current', readdirSync(join(folder, 'run-current'))[0]!)
    const before = readFileSync(current, 'utf8')
    const later = { planDigest: plan.digest, run: await store.runs.open(plan.digest) }
    await store.runs.setFresh(later)
    await store.runs.begin(later)
    const now = readFileSync(current, 'utf8')
    writeFileSync(current, before)
    await expect(store.runs.batch(run, 0)).rejects.toMatchObject({ code: 'apply/run-refused' })
    await expect(store.runs.batch(later, 0)).rejects.toMatchObject(refused)
    writeFileSync(current, now)

    const entry = await store.sends.getEntry((await store.sends.enter(orderOf('INV-2'))).sendId)
    const first = await store.sends.enterBody(entry, await store.putBody('{"first":1}'))
    const shelf = join(folder, 'send-progress')
    await store.sends.putProgress({ sendId: entry.name, reference: 'INV-2', state: 'waiting' })
    const waiting = readFileSync(join(shelf, entry.name), 'utf8')
    await store.sends.putProgress({ sendId: entry.name, reference: 'INV-2', state: 'included' })
    const included = readFileSync(join(shelf, entry.name), 'utf8')
    writeFileSync(join(shelf, entry.name), waiting)
    await expect(store.sends.getProgress(entry.name)).rejects.toMatchObject(refused)
    writeFileSync(join(shelf, entry.name), included)
    expect(await store.sends.enterBody(entry, await store.putBody('{"second":2}'))).toBe(first)
    expect(await store.sends.stop(entry.name)).toBe(false)
  })
})

describe('the key of the plan store', () => {
  const key = () => `${folder}.key`
  /** As a version of before left it: no record has a mark. */
  const strip = (paths: readonly string[]) => {
    for (const path of paths) writeFileSync(path, readFileSync(path, 'utf8').replace(/\nquorate-mac\/[12] .*$/, ''))
    for (const file of readdirSync(`${folder}.names`)) {
      const path = join(`${folder}.names`, file)
      writeFileSync(path, readFileSync(path, 'utf8').replace(/ \d+$/gm, ''))
    }
  }

  test('stands beside it, for its owner alone, and is not made anew where it is missing', async () => {
    expect(readFileSync(key(), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
    rmSync(key())
    const { sendId } = { sendId: readdirSync(join(folder, 'sends'))[0]! }
    await expect(createPlanStore(folder).sends.getProgress(sendId)).rejects.toMatchObject(refused)
    expect(existsSync(key())).toBe(false)
  })

  test('a store of before is taken over once, whole, by however many at once; from then on each record needs its mark', async () => {
    rmSync(key())
    strip(records())
    const paths = records()
    const texts = paths.map((path) => readFileSync(path, 'utf8'))
    const stores = [again(), again(), again()]
    const read = await Promise.all(stores.map((one) => Promise.all(paths.map((path) => one.read(path)))))
    expect(read).toEqual([texts, texts, texts])
    expect(readdirSync(dirname(folder)).sort()).toEqual(['plans', 'plans.key', 'plans.names'])
    strip(paths.slice(0, 1))
    await expect(again().read(paths[0]!)).rejects.toMatchObject(refused)
  })

  test('a take-over that was killed half way is gone on with', async () => {
    const made = readFileSync(key(), 'utf8')
    renameSync(key(), `${key()}.new`)
    const paths = records()
    strip(paths.filter((_, index) => index % 2 === 0))
    for (const path of paths) await again().read(path)
    expect(readFileSync(key(), 'utf8')).toBe(made)
    expect(existsSync(`${key()}.new`)).toBe(false)
  })

  test('a new store has one from its first record on', async () => {
    const other = join(testFolder(), 'deeper', 'plans')
    mkdirSync(dirname(other), { mode: 0o700 })
    await createPlanStore(other).sends.enter(orderOf('INV-3'))
    expect(readdirSync(dirname(other)).sort()).toEqual(['plans', 'plans.key', 'plans.names'])
  })
})
