/**
 * A worker is killed before or after the work of each step of a rotation, while a signer works with the key that stands in the
 * file. What must hold: the rotation ends by itself, the new key alone is left, no request of the signer is refused, and its
 * user is never without a credential.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createPlanStore } from '../../activities/index.ts'
import { createSubmitClient } from '../../src/client/index.ts'
import { orderRotation } from '../../src/operations/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { connectTemporal, type TemporalSettings } from '../../src/worker/index.ts'
import type { rotate } from '../../workflows/index.ts'
import { programFile } from '../programs.ts'
import { createTestUser, startTestService, type TestService } from '../service/harness.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { kill } from './field.ts'
import type { WorkerProcessSettings } from './worker-process.ts'

export type DeathPoint = NonNullable<WorkerProcessSettings['diesAt']>

/** Steps of a rotation in their order; what is polled only where people are waited for is not among them. */
const STEPS = [
  { step: 'loadRotation' },
  { step: 'makeRotationKey' },
  { step: 'prepareRotation', part: 'create' },
  { step: 'submitRotation', part: 'create' },
  { step: 'verifyRotation' },
  { step: 'handOverKey' },
  { step: 'prepareRotation', part: 'delete' },
  { step: 'submitRotation', part: 'delete' },
  { step: 'proveRotation' },
  { step: 'recordRotation' },
] as const

export const DEATH_POINTS: readonly DeathPoint[] = STEPS.flatMap((one) => [
  { ...one, when: 'before' as const },
  { ...one, when: 'after' as const },
])

export interface RotationKills {
  readonly points: number
  readonly killed: number
  readonly done: number
  /** Users who have the new key and no other. */
  readonly renewed: number
  readonly fewestKeys: number
  readonly signed: number
  readonly refused: number
}

const OVERLAP_MS = 3_000
const SIGN_EVERY_MS = 200

export async function killInRotations({
  temporal: server,
  points = DEATH_POINTS,
  atOnce = 4,
}: {
  readonly temporal: TemporalSettings
  readonly points?: readonly DeathPoint[]
  readonly atOnce?: number
}): Promise<RotationKills> {
  const service = await startTestService()
  const folder = mkdtempSync(join(tmpdir(), 'quorate-rotation-kills-'))
  const bundleFile = join(folder, 'bundle.js')
  writeFileSync(bundleFile, (await testBundle()).code)
  const temporal = await connectTemporal(server, testSeal)
  const sum = { points: points.length, killed: 0, done: 0, renewed: 0, fewestKeys: 9, signed: 0, refused: 0 }
  const waiting = [...points.entries()]
  const take = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, diesAt] = next
      const user = await createTestUser(service, `ci-${index}`)
      const keyPath = join(folder, `${index}.key`)
      writeFileSync(keyPath, JSON.stringify({ privateKey: user.client.privateKey }), { mode: 0o600 })
      const storeFolder = join(folder, `machine-${index}`)
      const plans = createPlanStore(join(storeFolder, 'plans'))
      const { organizationId } = service
      const sink = { kind: 'file', path: keyPath } as const
      const request = { user: user.userId, key: user.client.publicKey, overlapMs: OVERLAP_MS, sink }
      const at = { now: Date.now(), organizationName: 'acme' }
      const order = await orderRotation(clientOf(service, service.root.privateKey), request, at)
      await plans.rotations.enter(order)
      const settings: WorkerProcessSettings = {
        temporal: server,
        taskQueue: `rotation-${randomUUID()}`,
        baseUrl: service.url,
        organizationId,
        privateKey: service.root.privateKey,
        storeFolder,
        bundleFile,
        naive: false,
        rotates: true,
      }
      const handle = await temporal.client.workflow.start<typeof rotate>('rotate', {
        workflowId: `rotate/${organizationId}/${user.userId}`,
        taskQueue: settings.taskQueue,
        args: [{ organizationId, rotationId: order.rotationId }],
        workflowTaskTimeout: '2s',
      })
      let over = false
      const signing = (async () => {
        for (; !over; await delay(SIGN_EVERY_MS)) {
          const { privateKey } = JSON.parse(readFileSync(keyPath, 'utf8')) as { privateKey: string }
          await clientOf(service, privateKey)
            .query('whoami', {})
            .then(
              () => sum.signed++,
              () => sum.refused++,
            )
          const { apiKeys } = await service.root.query('get_api_keys', { userId: user.userId })
          sum.fewestKeys = Math.min(sum.fewestKeys, apiKeys.length)
        }
      })()
      const first = startWorker({ ...settings, diesAt })
      await once(first, 'exit')
      if (first.signalCode === 'SIGKILL') sum.killed++
      const second = startWorker(settings)
      const { state, new: renewed } = await handle.result()
      over = true
      await signing
      await kill(second)
      if (state === 'done') sum.done++
      const { apiKeys } = await service.root.query('get_api_keys', { userId: user.userId })
      const left = apiKeys.map(({ credential }) => credential.publicKey)
      if (left.length === 1 && left[0] === renewed?.publicKey) sum.renewed++
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, take))
    return sum
  } finally {
    await temporal.close()
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function startWorker(settings: WorkerProcessSettings): ChildProcess {
  const script = programFile('test/reliability/worker-process.ts')
  return spawn(process.execPath, [script, JSON.stringify(settings)], { stdio: 'ignore' })
}

function clientOf({ url, organizationId }: TestService, privateKey: string) {
  const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey) })
  return createSubmitClient({ baseUrl: url, organizationId, stamper })
}
