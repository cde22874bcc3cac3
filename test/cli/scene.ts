/** A place to apply in: a service, a folder, and a worker process for the root user's key. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ServiceOptions } from '../../src/service/index.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { testTemporalEnvironment } from '../temporal.ts'
import { environmentOf, testFolder } from './harness.ts'

const main = join(import.meta.dirname, '../../src/cli/main.ts')

export interface Scene {
  readonly service: TestService
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

/** What a scene is like where it is not like every other. */
export interface SceneOptions
  extends Pick<ServiceOptions, 'clock' | 'rootUserName' | 'keyName' | 'chains' | 'operator'> {
  /** At which address the service is found. @default its own */
  readonly at?: (service: TestService) => Promise<string>
  /** Added to the environment of the worker and of every command. */
  readonly more?: Readonly<Record<string, string>>
  /** When it ends. @default with the test */
  readonly atEnd?: (work: () => Promise<void>) => void
}

/** Sets one up. */
export async function scene(given: SceneOptions = {}): Promise<Scene> {
  const { at = async ({ url }) => url, more = {}, atEnd = onTestFinished, ...options } = given
  const temporal = await testTemporalEnvironment()
  const service = await startTestService(options)
  const folder = testFolder(atEnd)
  const env = environmentOf(service, folder, service.root.privateKey, {
    ...temporal,
    QUORATE_BASE_URL: await at(service),
    ...more,
  })
  const worker = spawn(process.execPath, [main, 'worker', '--json'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  atEnd(async () => {
    await ended(worker)
    await service.close()
  })
  await once(worker.stdout!, 'data')
  return { service, folder, env }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}

/** Definitions of some tags and nothing else. */
export const onlyTags = (names: readonly string[]) => `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
tags: { ${names.map((name) => `${name}: {}`).join(', ')} }
`
