/** A question on a terminal: Ctrl-C, and the end of the input, are a no. `script` of util-linux gives the terminal. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { builtMain } from '../built.ts'

const canMakeTerminals = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

test.skipIf(!canMakeTerminals).each([
  { name: 'Ctrl-C', keys: '\x03' },
  { name: 'the end of the input', keys: '\x04' },
  { name: 'another word', keys: 'yess\r' },
])('question: $name is a no, and says what was not done', async ({ keys }) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quorate-question-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const file = join(dataDir, 'values.json')
  writeFileSync(file, '{"env":{},"vars":{}}', { mode: 0o600 })
  const command = `'${process.execPath}' '${builtMain()}' reset --data-dir '${dataDir}'`
  const child = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] })
  let shown = ''
  child.stdout.on('data', (part: Buffer) => {
    const asked = shown.includes('[y/N]')
    shown += String(part)
    if (!asked && shown.includes('[y/N]')) child.stdin.write(keys)
  })
  const exit = await new Promise((resolve) => child.once('close', resolve))
  expect(shown).toContain('cli/not-confirmed')
  expect(shown).toContain('nothing was deleted')
  expect([exit, existsSync(file)]).toEqual([1, true])
})
