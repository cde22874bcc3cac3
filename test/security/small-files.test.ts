/** The smaller files of a data folder decide something too: which process is stopped, whose keys approve. */
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startEmbeddedTemporal, temporalDeath } from '../../src/cli/background/embedded-temporal.ts'
import { demoKey } from '../../src/cli/demo-keys.ts'
import { readValues } from '../../src/cli/values.ts'

function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-small-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const start = (dataDir: string) =>
  startEmbeddedTemporal(dataDir, { environment: {}, announce: () => {}, closers: [] }).then(() => 'started')

const FILES = [
  { name: 'values.json', text: '{"env":{},"vars":{}}', use: async (dataDir: string) => readValues(dataDir) },
  {
    name: 'temporal.json',
    text: '{"pid":1,"address":"127.0.0.1:1"}',
    use: async (dataDir: string) => temporalDeath(dataDir),
  },
]
const FOLDERS = [
  { name: 'keys', use: (dataDir: string) => demoKey(dataDir, 'alice') },
  { name: 'temporal', use: start },
]

describe('data folder: its smaller files', () => {
  test.each(FILES)('$name that others may write, or that is a link, is refused', async ({ name, text, use }) => {
    const dataDir = dataFolder()
    const file = join(dataDir, name)
    writeFileSync(file, text, { mode: 0o600 })
    await expect(use(dataDir)).resolves.not.toThrow()
    chmodSync(file, 0o622)
    await expect(use(dataDir)).rejects.toMatchObject({ code: 'local/exposed' })
    chmodSync(file, 0o600)
    renameSync(file, `${file}.elsewhere`)
    symlinkSync(`${file}.elsewhere`, file)
    await expect(use(dataDir)).rejects.toMatchObject({ code: 'local/exposed' })
  })

  test.each(FOLDERS)('$name/ that others may write is refused', async ({ name, use }) => {
    const dataDir = dataFolder()
    const folder = join(dataDir, name)
    mkdirSync(folder)
    chmodSync(folder, 0o777)
    await expect(use(dataDir)).rejects.toMatchObject({ code: 'local/exposed' })
  })
})
