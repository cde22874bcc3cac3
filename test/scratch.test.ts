import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { removeLeft } from './scratch.ts'

test.runIf(process.platform === 'linux')('scratch: what a killed run left behind is removed, and nothing else', () => {
  const memory = mkdtempSync(join(tmpdir(), 'quorate-memory-'))
  onTestFinished(() => rmSync(memory, { recursive: true }))
  // No process has a number as high.
  const [dead, alive, other] = ['quorate-99999999-a', `quorate-${process.pid}-a`, 'postgres-99999999-a']
  for (const name of [dead, alive, other]) mkdirSync(join(memory, name, 'within'), { recursive: true })
  removeLeft(memory)
  expect(readdirSync(memory).sort()).toEqual([other, alive].sort())
})
