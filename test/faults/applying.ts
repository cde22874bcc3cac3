/** Applies of many organizations through networks of their own: one worker, the real client, the real service. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import { type Activities, type ApplyProgress, createActivities, createPlanStore } from '../../activities/index.ts'
import type { SubmitClient } from '../../src/client/index.ts'
import { canonicalJson } from '../../src/encoding/index.ts'
import type { Batch, Plan } from '../../src/plan/index.ts'
import { silentLogger } from '../../src/telemetry/index.ts'
import { createWorker, type TemporalConnections } from '../../src/worker/index.ts'
import type { apply } from '../../workflows/index.ts'
import type { TestClient } from '../service/harness.ts'
import { testSeal } from '../test-seal.ts'
import { testBundle } from '../worker-runtime.ts'
import { makePlanOf } from '../workflows/made-plan.ts'
import { type Between, type Meddle, startBetween } from './between.ts'
import { impatientClient } from './impatient.ts'

/** Who applies where. */
export interface Applicant {
  readonly organizationId: string
  readonly userId: string
  readonly client: TestClient
}

export interface Applying {
  /** Starts an apply through a network that does what `meddle` says. */
  start(applicant: Applicant, what: readonly Batch[] | Plan, options?: StartOptions): Promise<Applied>
  close(): Promise<void>
}

interface StartOptions {
  readonly meddle?: Meddle
  readonly activities?: (usual: Activities) => Pick<Partial<Activities>, 'prepareRequest'>
}

export interface Applied {
  readonly between: Between
  readonly handle: WorkflowHandle<typeof apply>
  /** Awaits the end; now and then it tells the apply to look again, so that its waits are no part of a test. */
  ended(): Promise<ApplyProgress>
}

/** Sets up a worker for whatever is applied through it. */
export async function createApplying(
  temporal: TemporalConnections,
  service: { readonly url: string },
  { attemptMs = 1_500, clock = Date.now }: { readonly attemptMs?: number; readonly clock?: () => number } = {},
): Promise<Applying> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-applying-'))
  const planStore = createPlanStore(join(folder, 'plans'))
  const clients = new Map<string, SubmitClient>()
  const changed = new Map<string, Partial<Activities>>()
  const betweens: Between[] = []
  const taskQueue = `applying-${randomUUID()}`
  const clientFor = ({ id }: { readonly id: string }) => clients.get(id)!
  const usual = createActivities({ clientFor, planStore, clock, logger: silentLogger })
  const prepareRequest: Activities['prepareRequest'] = async (input) => {
    const { organization } = await planStore.getPlan(input.planDigest)
    return { ...usual, ...changed.get(organization.id) }.prepareRequest(input)
  }
  const worker = await createWorker({
    connection: await temporal.openForWorker(),
    seal: testSeal,
    taskQueue,
    activities: { ...usual, prepareRequest },
    workflowBundle: await testBundle(),
  })
  const running = worker.run()

  return {
    async start({ organizationId, userId, client }, what, { meddle, activities } = {}) {
      const between = await startBetween(service.url, meddle)
      betweens.push(between)
      const where = { baseUrl: between.url, organizationId, privateKey: client.privateKey }
      clients.set(organizationId, impatientClient({ ...where, attemptMs }))
      if (activities) changed.set(organizationId, activities(usual))
      const place = { organizationId, baseUrl: service.url, userId, publicKey: client.publicKey }
      const plan = 'digest' in what ? what : makePlanOf(place, what)
      await planStore.putPlan(plan)
      const handle = await temporal.client.workflow.start<typeof apply>('apply', {
        workflowId: `apply/${organizationId}`,
        taskQueue,
        args: [{ organizationId, planDigest: plan.digest, run: await planStore.runs.open(plan.digest) }],
      })
      return {
        between,
        handle,
        async ended() {
          const nudging = setInterval(() => void handle.signal('nudge').catch(() => {}), 1_500)
          try {
            return await handle.result()
          } finally {
            clearInterval(nudging)
          }
        },
      }
    },
    async close() {
      worker.shutdown()
      await running
      for (const between of betweens) await between.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** How many different bodies were sent for each intent. */
export function bodiesByIntent(betweens: readonly Between[]): ReadonlyMap<string, number> {
  const bodies = new Map<string, Set<string>>()
  for (const { body, submits } of betweens.flatMap(({ passed }) => passed)) {
    if (!submits) continue
    const { type, parameters } = JSON.parse(body) as { type: string; parameters: never }
    const key = `${type} ${canonicalJson(parameters)}`
    bodies.set(key, (bodies.get(key) ?? new Set()).add(body))
  }
  return new Map([...bodies].map(([intent, all]) => [intent, all.size]))
}
