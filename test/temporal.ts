/**
 * One Temporal dev server for the whole test run, started by whoever needs it first and stopped after the last test.
 * As Vitest's global setup it only makes the folder and tidies up, so that rooms without workflows pay nothing.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'
import { connectTemporal, findTemporal, startTemporalServer, type TemporalConnections } from '../src/worker/index.ts'

declare module 'vitest' {
  interface ProvidedContext {
    temporalFolder: string
  }
}

export default function setup(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-temporal-'))
  project.provide('temporalFolder', folder)
  return () => {
    const pid = readPid(folder)
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Connects to the run's Temporal server, which the first caller starts. Close the connections after the tests. */
export async function connectTestTemporal(): Promise<TemporalConnections> {
  return connectTemporal({ address: await testTemporalAddress() })
}

export async function testTemporalAddress(): Promise<string> {
  const folder = inject('temporalFolder')
  if (await claim(join(folder, 'claimed'))) {
    const announce = (message: string) => process.stderr.write(`${message}\n`)
    const binary = await findTemporal({ announce })
    const { address, pid } = await startTemporalServer({
      binary,
      dbFile: join(folder, 'temporal.db'),
      announce: () => {},
    })
    const file = join(folder, randomUUID())
    await writeFile(file, JSON.stringify({ address, pid }))
    await rename(file, join(folder, 'server.json'))
  }
  for (;;) {
    const text = await readFile(join(folder, 'server.json'), 'utf8').catch(() => undefined)
    if (text !== undefined) return (JSON.parse(text) as { address: string }).address
    await delay(50)
  }
}

async function claim(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx')).close()
    return true
  } catch {
    return false
  }
}

function readPid(folder: string): number | undefined {
  try {
    return (JSON.parse(readFileSync(join(folder, 'server.json'), 'utf8')) as { pid: number }).pid
  } catch {
    return undefined
  }
}
