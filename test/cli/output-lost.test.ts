/** A stdout that takes nothing more: nobody is told that all is well, or shown a stack. */
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { builtMain } from '../built.ts'
import { testFolder, writeFiles } from './harness.ts'

const definitions = (folder: string) =>
  writeFiles(join(folder, 'defs'), {
    'a.yaml': 'organization: acme\nid: 0191d8e0-0000-7000-8000-000000000001\ntags: { ops: {} }\n',
  })

/** Runs a command with this stdout; undefined: a pipe that is closed before anything is written. */
async function run(args: readonly string[], stdout?: number) {
  const child = spawn(process.execPath, [builtMain(), ...args], { stdio: ['ignore', stdout ?? 'pipe', 'pipe'] })
  child.stdout?.destroy()
  let stderr = ''
  child.stderr!.on('data', (data: Buffer) => {
    stderr += data.toString()
  })
  const exit = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { exit, stderr }
}

test('output: on a full disk it is said that it could not be written, and how to go on', async () => {
  const full = openSync('/dev/full', 'w')
  onTestFinished(() => closeSync(full))
  const { exit, stderr } = await run(['validate', definitions(testFolder()), '--json'], full)
  expect([exit, stderr]).toEqual([1, expect.stringContaining('error local/disk-full: the output could not be written')])
  expect(stderr).toContain('quorate status')
  expect(stderr).not.toMatch(/^\s+at /m)
})

test('output: a reader who has gone is not told that all is done', async () => {
  const { exit, stderr } = await run(['validate', definitions(testFolder()), '--json'])
  expect([exit, stderr]).toEqual([141, expect.not.stringContaining('error')])
})
