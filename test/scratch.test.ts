import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { nameFor, removeLeft } from './scratch.ts'

test.runIf(process.platform === 'linux')('scratch: what a killed run left behind is removed, and nothing else', () => {
  const memory = mkdtempSync(join(tmpdir(), 'quorate-memory-'))
  onTestFinished(() => rmSync(memory, { recursive: true }))
  // No process has a number as high.
  const dead = `${nameFor(99_999_999)}-a`
  // Of a process that has its number elsewhere, such as in a container, it is not known here whether it lives.
  const kept = [`${nameFor(process.pid)}-a`, 'postgres-99999999-a', 'quorate-99999999-a', 'quorate-zz.1njchr-a']
  for (const name of [dead, ...kept]) mkdirSync(join(memory, name, 'within'), { recursive: true })
  removeLeft(memory)
  expect(readdirSync(memory).sort()).toEqual(kept.sort())
  // Of the highest number that Linux gives (proc(5): `pid_max`), with six more for `mkdtemp`.
  expect(nameFor(4_194_304).length).toBeLessThanOrEqual('quorate-1234.12345'.length)
})
