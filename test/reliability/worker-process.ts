/** A worker as a process of its own, for tests that kill it. `naive` makes the body where no test should let it be made. */
import { readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Activities, createActivities, createPlanStore } from '../../activities/index.ts'
import { createFolderTurns, createRate, createSubmitClient, type SubmitClient } from '../../src/client/index.ts'
import { rotationKeysOf } from '../../src/operations/open-rotations.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret, silentLogger } from '../../src/telemetry/index.ts'
import { connectTemporal, createWorker, routeTemporalLogs, type TemporalSettings } from '../../src/worker/index.ts'
import { testSeal } from '../test-seal.ts'

export interface WorkerProcessSettings {
  readonly temporal: TemporalSettings
  readonly taskQueue: string
  readonly baseUrl: string
  readonly organizationId: string
  readonly privateKey: string
  readonly storeFolder: string
  readonly bundleFile: string
  readonly naive: boolean
  /** Whether it rotates keys too. @default false */
  readonly rotates?: boolean
  /** The Temporal activity, and of which part of a rotation, before or after whose work the worker is killed. */
  readonly diesAt?: {
    readonly step: string
    readonly part?: string
    readonly when: 'before' | 'after'
    /** Only after the first work of it that finds an activity in this state. @default any */
    readonly finds?: string
    /** The process that is killed, once. @default the worker itself */
    readonly kills?: number
  }
  /** Shared with the other workers of the store. @default no limit */
  readonly requestsPerSecond?: number
  /** @default 0: every workflow task is a replay */
  readonly maxCachedWorkflows?: number
}

const settings = JSON.parse(process.argv[2]!) as WorkerProcessSettings
await routeTemporalLogs(silentLogger)
const store = createPlanStore(join(settings.storeFolder, 'plans'))
const rate = createRate({
  requestsPerSecond: settings.requestsPerSecond,
  turns: createFolderTurns(join(settings.storeFolder, 'turns')),
})
const clientOf = (privateKey: Secret) => {
  const { baseUrl, organizationId } = settings
  return createSubmitClient({ baseUrl, organizationId, stamper: createApiKeyStamper({ privateKey }), rate })
}
const client = clientOf(new Secret(settings.privateKey))

/** Deliberately wrong: every attempt has a body of its own, so a repetition is another request. */
const naive: SubmitClient = {
  ...client,
  submit(path, text, options) {
    const body = JSON.parse(text) as { timestampMs: string }
    return client.submit(path, JSON.stringify({ ...body, timestampMs: String(Date.now()) }), options)
  },
}

const connection = await connect()
const worker = await createWorker({
  connection,
  ...(settings.temporal.namespace === undefined ? {} : { namespace: settings.temporal.namespace }),
  seal: testSeal,
  taskQueue: settings.taskQueue,
  activities: dying(
    createActivities({
      clientFor: () => (settings.naive ? naive : client),
      planStore: store,
      clock: Date.now,
      logger: silentLogger,
      ...(settings.rotates
        ? {
            rotation: {
              keysFolder: rotationKeysOf(settings.storeFolder),
              clientWith: (_: unknown, privateKey: Secret) => clientOf(privateKey),
              useKey: () => {},
              stores: { environment: {} },
            },
          }
        : {}),
    }),
  ),
  workflowBundle: { code: readFileSync(settings.bundleFile, 'utf8') },
  maxCachedWorkflows: settings.maxCachedWorkflows ?? 0,
})
// A process that is killed keeps nothing of what it has compiled for the next.
flushCompileCache()
await worker.run()

/** Tried until it is there: on a busy machine the server answers late, and nobody starts a worker again that has ended by itself. */
async function connect() {
  for (;;) {
    try {
      const temporal = await connectTemporal(settings.temporal, testSeal)
      return await temporal.openForWorker()
    } catch {
      await delay(500)
    }
  }
}

function dying(activities: Activities): Activities {
  const { diesAt } = settings
  if (!diesAt) return activities
  const { step, part, when, finds, kills = process.pid } = diesAt
  const work = activities[step as keyof Activities] as (input: unknown) => Promise<unknown>
  let isDead = false
  const die = () => {
    if (isDead) return
    isDead = true
    process.kill(kills, 'SIGKILL')
  }
  const dies = async (input: { readonly part?: string }) => {
    const isHere = part === undefined || input.part === part
    if (isHere && when === 'before') die()
    const result = await work(input)
    const isFound = finds === undefined || (result as { readonly state?: string }).state === finds
    if (isHere && isFound && when === 'after') die()
    return result
  }
  return { ...activities, [step]: dies }
}
