/** A place to apply in: a service, a folder, and a worker for the root user's key. */
import { onTestFinished } from 'vitest'
import { findPlace } from '../../src/cli/background/connect.ts'
import { createIo } from '../../src/cli/io.ts'
import { createOrganizationWorker } from '../../src/cli/organization-worker.ts'
import { readSettings } from '../../src/config/index.ts'
import type { ServiceOptions } from '../../src/service/index.ts'
import { silentLogger } from '../../src/telemetry/index.ts'
import { connectTemporal, loadPayloadSeal, type TemporalConnections } from '../../src/worker/index.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { testTemporalEnvironment } from '../temporal.ts'
import { testBundle } from '../worker-runtime.ts'
import { environmentOf, testFolder } from './harness.ts'

export interface Scene {
  readonly service: TestService
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Ends the worker, for a test that has one of its own. */
  stopWorker(): Promise<void>
  /** Starts a worker where the one before was ended. */
  startWorker(): Promise<void>
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
  const service = await startTestService(options)
  const folder = testFolder(atEnd)
  const env = environmentOf(service, folder, service.root.privateKey, {
    ...(await testTemporalEnvironment()),
    QUORATE_BASE_URL: await at(service),
    ...more,
  })
  const temporal = await connectScene(env)
  const start = async () => {
    const worker = await createSceneWorker(env, temporal)
    return { worker, running: worker.run() }
  }
  let { worker, running } = await start()
  const stopWorker = async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown()
    await running
  }
  const startWorker = async () => {
    ;({ worker, running } = await start())
  }
  atEnd(async () => {
    await stopWorker()
    await temporal.close()
    await service.close()
  })
  return { service, folder, env, stopWorker, startWorker }
}

/** The Temporal server of a scene, as its commands have it. */
export async function connectScene(environment: Scene['env']): Promise<TemporalConnections> {
  const { dataDir, payloadKey } = readSettings(environment, {})
  return connectTemporal({ environment }, await loadPayloadSeal(dataDir, payloadKey))
}

/** What `quorate worker` runs, in the tests' own process: for each scene one of its own would cost more than all the rest. */
async function createSceneWorker(environment: Scene['env'], temporal: TemporalConnections) {
  const settings = readSettings(environment, {})
  const place = await findPlace({ settings, environment, io: createIo(environment) })
  const options = { logger: silentLogger, workflowBundle: await testBundle() }
  return createOrganizationWorker(temporal, place, settings, options)
}

/** Definitions of some tags and nothing else. */
export const onlyTags = (names: readonly string[]) => `organization: acme
id: \${env.ACME_ORGANIZATION_ID}
tags: { ${names.map((name) => `${name}: {}`).join(', ')} }
`
