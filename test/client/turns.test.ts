import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { createFolderTurns, createRate, type Timing } from '../../src/client/index.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
const folderOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-turns-'))
  folders.push(folder)
  return folder
}

/** A clock that goes on to the next sleeper when all that live sleep, whatever the machine does meanwhile. */
function createClock(live: number, latenessMs: readonly number[] = [0]) {
  let now = 0
  let slept = 0
  const sleepers: { readonly at: number; readonly wake: () => void }[] = []
  const goOn = () => {
    if (sleepers.length < live || live === 0) return
    sleepers.sort((one, other) => one.at - other.at)
    const next = sleepers.shift()!
    now = Math.max(now, next.at)
    next.wake()
  }
  const timing: Timing = {
    now: () => now,
    sleep: (ms) =>
      new Promise((wake) => {
        sleepers.push({ at: now + ms + latenessMs[slept++ % latenessMs.length]!, wake })
        goOn()
      }),
    random: () => 0.5,
  }
  const end = () => {
    live--
    goOn()
  }
  return { timing, end }
}

/** When each of several that share a folder had each of its turns, in milliseconds of their clock. */
async function takeTurns(
  perSecond: number | readonly number[],
  takers: number,
  turns: number,
  latenessMs?: readonly number[],
) {
  const { timing, end } = createClock(takers, latenessMs)
  const folder = folderOf()
  const all = await Promise.all(
    Array.from({ length: takers }, async (_, taker) => {
      const requestsPerSecond = typeof perSecond === 'number' ? perSecond : perSecond[taker]!
      const rate = createRate({ requestsPerSecond, turns: createFolderTurns(folder, timing), timing })
      const times: number[] = []
      while (times.length < turns) {
        await rate.take()
        times.push(timing.now())
      }
      end()
      return times
    }),
  )
  const times = all.flat().sort((one, other) => one - other)
  return { times, most: mostInASecond(times), all }
}

const mostInASecond = (times: readonly number[]) =>
  Math.max(...times.map((start) => times.filter((time) => time >= start && time < start + 1_000).length))

test('turns: three together keep the rate of one, and use it', async () => {
  const { times, most } = await takeTurns(20, 3, 15)
  expect(times).toHaveLength(45)
  expect(most).toBe(20)
  // A turn is a twentieth of a second and what is left for the way to the API, and none is left out.
  expect(times.at(-1)).toBeCloseTo(44 * 52.5)
})

test.each([
  ['a little late', [0, 7, 12, 3, 1, 12, 12]],
  ['overslept', [0, 7, 60, 12, 140, 3, 26]],
])('turns: who wakes %s still keeps the rate', async (_, latenessMs) => {
  const { times, most } = await takeTurns(20, 3, 30, latenessMs)
  expect(times).toHaveLength(90)
  expect(most).toBeLessThanOrEqual(20)
})

test('turns: one alone is as fast as its rate', async () => {
  const { times } = await takeTurns(100, 1, 50)
  expect(times.at(-1)).toBeCloseTo(49 * 10.5)
})

test('turns: no second has more at the API than the rate, however late they wake and whatever they take on the way', async () => {
  const ms = (max: number) => fc.double({ min: 0, max, noNaN: true })
  const wakes = fc.oneof(
    { weight: 6, arbitrary: ms(4) },
    { weight: 2, arbitrary: ms(25) },
    { weight: 1, arbitrary: ms(200) },
  )
  // As many as no number of takers divides: none has but late ones.
  const late = fc.array(wakes, { minLength: 31, maxLength: 31 })
  const way = fc.array(ms(1), { minLength: 40, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(1, 3, 10, 20, 60), late, way, async (perSecond, latenessMs, onTheWay) => {
      const { times } = await takeTurns(perSecond, 3, perSecond * 2, latenessMs)
      // What waking late may take of it is not left for the way.
      const mostMs = 50 - Math.min(1_050 / perSecond / 4, 25)
      const arrivals = times.map((time, index) => time + onTheWay[index % onTheWay.length]! * mostMs)
      expect(mostInASecond(arrivals.toSorted((one, other) => one - other))).toBeLessThanOrEqual(perSecond)
    }),
    { numRuns: 60 },
  )
})

test('turns: of those with different rates, all keep the lowest, from the turn that follows its first', async () => {
  const { times, all } = await takeTurns([60, 5, 20], 3, 12)
  expect(mostInASecond(times.filter((time) => time >= all[1]![0]! + 210))).toBe(5)
})

test('turns: who has asked for a lower rate and is gone holds nobody back after two minutes', async () => {
  const { timing } = createClock(1)
  const folder = folderOf()
  const rateOf = (requestsPerSecond: number) =>
    createRate({ requestsPerSecond, turns: createFolderTurns(folder, timing), timing })
  await rateOf(1).take()
  const fast = rateOf(10)
  const taking = async () => {
    await fast.take()
    const from = timing.now()
    await fast.take()
    return timing.now() - from
  }
  expect(await taking()).toBeCloseTo(1_050)
  await timing.sleep(120_000)
  expect(await taking()).toBeCloseTo(105)
  expect(readdirSync(folder).filter((name) => name.startsWith('every-1050000'))).toEqual([])
})

/** Takes as many turns as a process keeps, in one folder after the other, while time stands still; prints how long each waits. */
const program = (folders: readonly string[]) => `
  import { createFolderTurns } from '${new URL('../../src/client/index.ts', import.meta.url).href}'
  process.stdin.once('data', async () => {
    for (const folder of ${JSON.stringify(folders)}) {
      let waited = 0
      const timing = { now: () => 0, sleep: async (ms) => { waited = ms }, random: () => 0.5 }
      const turns = createFolderTurns(folder, timing)
      for (let turn = 0; turn < 3; turn++) {
        waited = 0
        await turns.next(50)
        console.log(folder, waited)
      }
    }
    process.exit()
  })
  console.log('ready')
`

test('turns: processes that reach for the same turn at once have one each, and leave none out', async () => {
  const shared = Array.from({ length: 20 }, folderOf)
  const processes = [1, 2, 3].map(() => {
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program(shared)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const lines: string[] = []
    createInterface(child.stdout).on('line', (line) => lines.push(line))
    return { child, lines, ready: once(child.stdout, 'readable'), closed: once(child, 'close') }
  })
  await Promise.all(processes.map(({ ready }) => ready))
  for (const { child } of processes) child.stdin.write('go\n')
  await Promise.all(processes.map(({ closed }) => closed))
  const had = processes.flatMap(({ lines }) => lines.filter((line) => line !== 'ready'))
  for (const folder of shared) {
    const waits = had.filter((line) => line.startsWith(`${folder} `)).map((line) => Number(line.split(' ')[1]))
    expect(waits.sort((one, other) => one - other)).toEqual(Array.from({ length: 9 }, (_, slot) => slot * 50))
  }
})

test('turns: what processes left behind that are gone is tidied away', async () => {
  const folder = folderOf()
  writeFileSync(join(folder, '17'), '')
  const turns = createFolderTurns(folder)
  for (let turn = 0; turn < 9; turn++) expect(await turns.next(10)).toBe(true)
  expect(readdirSync(folder).filter((name) => /^\d+$/.test(name))).toHaveLength(3)
})

test('turns: where no file can be made, the rate is kept by the process alone', async () => {
  const turns = createFolderTurns('/dev/null/turns')
  expect(await turns.next(10)).toBe(false)
  const { timing } = createClock(1)
  const rate = createRate({ requestsPerSecond: 50, turns, timing })
  for (let turn = 0; turn < 6; turn++) await rate.take()
  expect(timing.now()).toBe(105)
})
