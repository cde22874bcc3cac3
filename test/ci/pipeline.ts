/** The example organization of a pipeline, definitions/ci, applied to a service of its own by the people of its root quorum. */
import { join } from 'node:path'
import { createRate, createSubmitClient } from '../../src/client/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { loadDefinitions } from '../../src/definitions/index.ts'
import { kindsMentioned, readActual } from '../../src/live/index.ts'
import { signLock } from '../../src/operations/lock-signature.ts'
import { type Lock, makePlan } from '../../src/plan/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import type { Desired } from '../../src/resources/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { apply, plan, type Target } from '../live/target.ts'
import { startTestService, type TestClient, type TestService } from '../service/harness.ts'

export const definitionsFolder = join(import.meta.dirname, '../../definitions/ci')

export interface Pipeline {
  readonly service: TestService
  readonly alice: TestClient
  readonly bob: TestClient
  readonly ciPlan: TestClient
  readonly ciApply: TestClient
  /** What the definitions want from outside. */
  readonly env: Readonly<Record<string, string>>
  readonly vars: Readonly<Record<string, string>>
  /** What the definitions were bound to. */
  readonly lock: Lock
  /** By alice, who applied them. */
  readonly lockSignature: string
}

export async function startPipeline(): Promise<Pipeline> {
  const service = await startTestService({ rootUserName: 'alice', keyName: 'laptop' })
  const [bob, ciPlan, ciApply] = Array.from({ length: 3 }, () => service.client(generateP256KeyPair().privateKey))
  const env = { PIPELINE_ORGANIZATION_ID: service.organizationId }
  const vars = {
    alicePublicKey: service.root.publicKey,
    bobPublicKey: bob!.publicKey,
    ciPlanPublicKey: ciPlan!.publicKey,
    ciApplyPublicKey: ciApply!.publicKey,
  }
  const { desired, diagnostics } = await loadDefinitions(definitionsFolder, { env, vars })
  if (desired === undefined) throw new Error(`definitions/ci has mistakes: ${JSON.stringify(diagnostics)}`)
  const lock = await applyTogether(service, bob!, desired)
  const { privateKey, publicKey } = service.root
  const lockSignature = await signLock(lock, { key: { privateKey: new Secret(privateKey), publicKey } })
  return { service, alice: service.root, bob: bob!, ciPlan: ciPlan!, ciApply: ciApply!, env, vars, lock, lockSignature }
}

/** Alice submits; once the quorum is two, bob approves. */
export async function applyTogether(service: TestService, bob: TestClient, desired: Desired): Promise<Lock> {
  const client = clientOf(service, service.root)
  const target: Target = {
    client,
    async execute(type, parameters) {
      const activity = await service.root.submit(type as ActivityType, parameters)
      if (activity.status === 'ACTIVITY_STATUS_COMPLETED') return activity.result
      await bob.approve(activity.fingerprint)
      return (await service.root.query('get_activity', { activityId: activity.id })).activity.result
    },
  }
  const lock = await apply(target, await plan(target, desired, {}))
  const actual = await readActual(client, { mentioned: kindsMentioned(desired) })
  const now = new Date().toISOString()
  const left = makePlan({ desired, actual, lock, creators: {}, baseUrl: client.baseUrl, allow: [], now }).plan
  if (left.changes.length > 0) throw new Error(`expected nothing to be left, got ${JSON.stringify(left.changes)}`)
  return lock
}

export function clientOf({ url, organizationId }: TestService, { privateKey }: TestClient) {
  const stamper = createApiKeyStamper({ privateKey: new Secret(privateKey) })
  return createSubmitClient({ baseUrl: url, organizationId, stamper, rate: createRate() })
}
