/** Processes with data folders of their own that are given one folder for turns keep one rate together. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'

const TURNS = 8
const PER_SECOND = 5
const at = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href)

/** Takes turns as a command with these settings does, and prints when it had each. */
const program = `
  import { readSettings } from ${at('config/index.ts')}
  import { rateOf } from ${at('operations/index.ts')}
  const rate = rateOf(readSettings(process.env), 'https://api.example.com')
  process.stdin.once('data', async () => {
    for (let turn = 0; turn < ${TURNS}; turn++) {
      await rate.take()
      console.log(Date.now())
    }
    process.exit()
  })
  console.log('ready')
`

/** The most turns that two processes had in a second. */
async function mostTogether(environment: Readonly<Record<string, string>>): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-shared-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const processes = ['one', 'other'].map((name) => {
    const own = { QUORATE_DATA_DIR: join(folder, name), QUORATE_REQUESTS_PER_SECOND: String(PER_SECOND) }
    const env = { PATH: process.env['PATH'], ...own, ...environment }
    const args = ['--input-type=module-typescript', '-e', program]
    const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
    const lines: string[] = []
    const read = createInterface(child.stdout).on('line', (line) => lines.push(line))
    return { child, lines, ready: once(read, 'line'), closed: once(child, 'close') }
  })
  await Promise.all(processes.map(({ ready }) => ready))
  for (const { child } of processes) child.stdin.write('go\n')
  await Promise.all(processes.map(({ closed }) => closed))
  const times = processes.flatMap(({ lines }) => lines.filter((line) => line !== 'ready').map(Number))
  expect(times).toHaveLength(2 * TURNS)
  return Math.max(...times.map((start) => times.filter((time) => time >= start && time < start + 1_000).length))
}

test('two data folders that are given one folder for turns never ask more often than one may; without it they do', async () => {
  const turns = mkdtempSync(join(tmpdir(), 'quorate-turns-'))
  onTestFinished(() => rmSync(turns, { recursive: true, force: true }))
  expect(await mostTogether({ QUORATE_TURNS_DIR: turns })).toBeLessThanOrEqual(PER_SECOND)
  expect(await mostTogether({})).toBeGreaterThan(PER_SECOND)
})
