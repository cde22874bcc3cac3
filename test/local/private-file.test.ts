/** Private files on a disk that has no room. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** Writes more than a process with this limit may have in a file (`ulimit -f`, in blocks of 512 bytes or of 1,024). */
const program = (path: string) => `
  import { writePrivate } from '${new URL('../../src/local/index.ts', import.meta.url).href}'
  try {
    writePrivate(${JSON.stringify(path)}, 'new'.repeat(2_000))
    console.log('written')
  } catch (error) {
    console.log(error.code)
  }
`

test('a private file that there is no room for stays as it was, and the error is thrown', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-room-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'a.key')
  writeFileSync(path, 'old', { mode: 0o600 })
  const command = 'ulimit -f 2 && exec "$0" --input-type=module-typescript -e "$1"'
  const told = execFileSync('/bin/sh', ['-c', command, process.execPath, program(path)], { encoding: 'utf8' })
  expect([told.trim(), readFileSync(path, 'utf8')]).toEqual(['EFBIG', 'old'])
  expect(readdirSync(folder)).toEqual(['a.key'])
})
