import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** Starts a bench that makes stores, in a temporary folder of the test's. */
function startBench() {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-benches-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const main = join(import.meta.dirname, 'main.ts')
  const start = () => {
    const child = spawn(process.execPath, [main, 'scale'], { env: { ...process.env, TMPDIR: folder }, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }
  return { folder, start }
}

const storesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('quorate.db'))

test.each(['SIGINT', 'SIGTERM'] as const)('a bench that is ended by %s leaves no files', async (signal) => {
  const { folder, start } = startBench()
  const bench = start()
  await expect.poll(() => storesIn(folder)).not.toEqual([])
  bench.kill(signal)
  await once(bench, 'exit')
  expect(readdirSync(folder)).toEqual([])
})

test('the next bench removes what a killed one has left, and nothing of one that runs', async () => {
  const { folder, start } = startBench()
  const running = join(folder, `quorate-bench-${process.pid}-abc`)
  const left = join(folder, 'quorate-bench-999999999-abc')
  const older = join(folder, 'quorate-bench-abc')
  for (const path of [running, left, older]) mkdirSync(path)
  const bench = start()
  await expect.poll(() => storesIn(folder)).not.toEqual([])
  expect([running, left, older].map(existsSync)).toEqual([true, false, false])
  bench.kill('SIGTERM')
  await once(bench, 'exit')
  expect(readdirSync(folder)).toEqual([`quorate-bench-${process.pid}-abc`])
})
