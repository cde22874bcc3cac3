import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createFolderTurns, createRate } from '../../src/client/index.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
const folderOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-turns-'))
  folders.push(folder)
  return folder
}

/** Takes turns in a process of its own, and prints when it had each. */
const program = (folder: string) => `
  import { createFolderTurns, createRate } from '${new URL('../../src/client/index.ts', import.meta.url).href}'
  const rate = createRate({ requestsPerSecond: 20, turns: createFolderTurns(${JSON.stringify(folder)}) })
  for (let turn = 0; turn < 15; turn++) {
    await rate.take()
    console.log(Date.now())
  }
`

test('turns: three processes together keep the rate of one, and use it', async () => {
  const folder = folderOf()
  const all = await Promise.all(
    [1, 2, 3].map(async () => {
      const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program(folder)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let said = ''
      child.stdout.on('data', (part) => {
        said += part
      })
      await once(child, 'close')
      return said.trim().split('\n').map(Number)
    }),
  )
  const times = all.flat().sort((one, other) => one - other)
  expect(times).toHaveLength(45)
  // One more than twenty: between its turn and its word a process may be late.
  const windows = times.map((start) => times.filter((time) => time >= start && time < start + 1_000).length)
  expect(Math.max(...windows)).toBeLessThanOrEqual(21)
  expect(times.at(-1)! - times[0]!).toBeLessThan(44 * 50 * 1.5)
})

test('turns: one process alone is as fast as its rate', async () => {
  const rate = createRate({ requestsPerSecond: 100, turns: createFolderTurns(folderOf()) })
  const from = performance.now()
  for (let turn = 0; turn < 50; turn++) await rate.take()
  const took = performance.now() - from
  expect(took).toBeGreaterThan(480)
  expect(took).toBeLessThan(1_500)
})

test('turns: what processes left behind that are gone is tidied away', async () => {
  const folder = folderOf()
  writeFileSync(join(folder, '17'), '')
  const turns = createFolderTurns(folder)
  for (let turn = 0; turn < 9; turn++) expect(await turns.next(10)).toBe(true)
  expect(readdirSync(folder)).toHaveLength(3)
})

test('turns: where no file can be made, the rate is kept by the process alone', async () => {
  const turns = createFolderTurns('/dev/null/turns')
  expect(await turns.next(10)).toBe(false)
  const rate = createRate({ requestsPerSecond: 50, turns })
  const from = performance.now()
  for (let turn = 0; turn < 6; turn++) await rate.take()
  expect(performance.now() - from).toBeGreaterThan(95)
})
