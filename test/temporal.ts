/**
 * One Temporal server for the whole test run, started by the first test that needs it and stopped after the last test.
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
import {
  connectTemporal,
  findTemporal,
  startTemporalServer,
  type TemporalConnections,
  type TemporalServer,
} from '../src/worker/index.ts'
import { testSeal } from './test-seal.ts'

declare module 'vitest' {
  interface ProvidedContext {
    temporalFolder: string
  }
}

/** Where the run's server is, and what lets a client in. */
export type TestTemporal = Pick<TemporalServer, 'address' | 'tls'>

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
  return connectTemporal(await testTemporal(), testSeal)
}

/** What tells a command of the run's Temporal server. */
export async function testTemporalEnvironment(): Promise<Readonly<Record<string, string>>> {
  return temporalEnvironment(await testTemporal())
}

/** What tells a command of a Temporal server and lets it in. */
export function temporalEnvironment({ address, tls }: TestTemporal): Readonly<Record<string, string>> {
  return {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_TLS_CLIENT_CERT_PATH: tls.certificate,
    TEMPORAL_TLS_CLIENT_KEY_PATH: tls.key,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: tls.authority,
    TEMPORAL_TLS_SERVER_NAME: 'localhost',
  }
}

/** The part of an environment that tells of a Temporal server. */
export function temporalOf(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => name.startsWith('TEMPORAL_')))
}

export async function testTemporal(): Promise<TestTemporal> {
  const folder = inject('temporalFolder')
  if (await claim(join(folder, 'claimed'))) {
    const announce = (message: string) => process.stderr.write(`${message}\n`)
    const binary = await findTemporal({ announce })
    const { address, tls, pid } = await startTemporalServer({
      binary,
      folder: join(folder, 'temporal'),
      announce: () => {},
    })
    const file = join(folder, randomUUID())
    await writeFile(file, JSON.stringify({ address, tls, pid }))
    await rename(file, join(folder, 'server.json'))
  }
  for (;;) {
    const text = await readFile(join(folder, 'server.json'), 'utf8').catch(() => undefined)
    if (text !== undefined) return JSON.parse(text) as TestTemporal
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
