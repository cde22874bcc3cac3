import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const script = `
import { looking } from ${JSON.stringify(join(import.meta.dirname, '../../src/cli/looking.ts'))}
const io = { say: (text) => process.stderr.write(text) }
await looking(io, { what: 'the batch', otherwise: 'Stop it by its name.' }, async () => 'done')
await looking(io, { what: 'the batch', otherwise: 'Stop it by its name.' }, () => {
  process.stdout.write('follows')
  return new Promise((resolve) => setTimeout(resolve, 60_000))
})`

test('looking: Ctrl-C says that what is followed goes on, and how it is stopped', async () => {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], { stdio: 'pipe' })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (part) => {
    said += part
  })
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  const [, signal] = await once(child, 'close')
  expect([signal, said]).toEqual(['SIGINT', '\nStopped looking; the batch goes on. Stop it by its name.\n'])
})
