/** A question on a terminal: Ctrl-C, and the end of the input, are a no. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { canMakeTerminals, onTerminal } from './terminal.ts'

test.skipIf(!canMakeTerminals).each([
  { name: 'Ctrl-C', keys: '\x03' },
  { name: 'the end of the input', keys: '\x04' },
  { name: 'another word', keys: 'yess\r' },
])('question: $name is a no, and says what was not done', async ({ keys }) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quorate-question-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const file = join(dataDir, 'values.json')
  writeFileSync(file, '{"env":{},"vars":{}}', { mode: 0o600 })
  const { exit, shown } = await onTerminal(['reset', '--data-dir', dataDir], { answer: () => keys })
  expect(shown).toContain('cli/not-confirmed')
  expect(shown).toContain('nothing was deleted')
  expect([exit, existsSync(file)]).toEqual([1, true])
})
