/**
 * The worker is killed at random moments while work is pending. What must hold: every batch ends, and each intent is
 * one activity, counted at the real service (stories G1). The naive variant, which makes the body inside the Temporal
 * activity, must fail the same test, or the test shows nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { createPlanStore } from '../../activities/index.ts'
import { canonicalJson } from '../../src/encoding/index.ts'
import { type Batch, digestOf, type Plan } from '../../src/plan/index.ts'
import type { Wire } from '../../src/protocol/index.ts'
import type { apply } from '../../workflows/index.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { connectTestTemporal } from '../temporal.ts'
import { testBundle } from './harness.ts'
import { type SlowAnswers, startSlowAnswers } from './slow-answers.ts'
import type { WorkerProcessSettings } from './worker-process.ts'

const PAIRS = 40
/** Long enough that a kill often falls between an activity being carried out and its answer. */
const ANSWER_AFTER_MS = 60

const closers: (() => Promise<unknown> | unknown)[] = []
const workers = new Set<ChildProcess>()
afterEach(async () => {
  for (const worker of workers) await kill(worker)
  for (const close of closers.splice(0).reverse()) await close()
})

/** Chains of five pairs: a tag, then a policy that needs the tag's id; there is always something that must wait. */
function makePlan(service: TestService): Plan {
  const batches = Array.from({ length: PAIRS }, (_, n): Batch[] => {
    const [tag, policy] = [2 * n, 2 * n + 1]
    const consensus = { $text: ["approvers.any(user, user.tags.contains('", { $ref: `tag.t${n}` }, "'))"] }
    return [
      {
        index: tag,
        type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
        summary: `create tag t${n}`,
        parameters: { userTagName: `t${n}`, userIds: [] },
        changes: [`tag.t${n}`],
        after: n % 5 === 0 ? [] : [tag - 1],
        produces: [{ address: `tag.t${n}`, at: ['createUserTagResult', 'userTagId'] }],
      },
      {
        index: policy,
        type: 'ACTIVITY_TYPE_CREATE_POLICIES',
        summary: `create policy p${n}`,
        parameters: {
          policies: [{ policyName: `p${n}`, effect: 'EFFECT_DENY', consensus, condition: 'false', notes: '' }],
        },
        changes: [`policy.p${n}`],
        after: [tag],
        produces: [{ address: `policy.p${n}`, at: ['createPoliciesResult', 'policyIds', 0] }],
      },
    ]
  }).flat()
  const plan: Plan = {
    format: 'quorate.plan/1',
    organization: { name: 'acme', id: service.organizationId, baseUrl: service.url },
    actor: { userId: service.rootUserId, userName: 'root', publicKey: service.root.publicKey },
    definitionsDigest: '',
    liveDigest: '',
    live: { every: [], things: [] },
    changes: [],
    batches,
    ids: {},
    unmanaged: [],
    guards: [],
    createdAt: '2026-01-01T00:00:00.000Z',
    digest: '',
  }
  return { ...plan, digest: digestOf(plan) }
}

/** How often each intent became an activity, as the service itself lists them. */
async function countByIntent(service: TestService): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  let before: string | undefined
  for (;;) {
    const paginationOptions = { limit: '100', ...(before ? { before } : {}) }
    const { activities } = await service.root.query('list_activities', { paginationOptions })
    for (const { type, intent } of activities as readonly Wire.Activity[]) {
      const key = `${type} ${canonicalJson(intent)}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    before = activities.at(-1)?.id
    if (activities.length < 100) return counts
  }
}

async function applyUnderFire({ naive, kills }: { naive: boolean; kills: number }, enough: (dup: number) => boolean) {
  const service = await startTestService()
  closers.push(() => service.close())
  const slow: SlowAnswers = await startSlowAnswers(service.url, ANSWER_AFTER_MS)
  closers.push(() => slow.close())
  const temporal = await connectTestTemporal()
  closers.push(() => temporal.close())
  const storeFolder = mkdtempSync(join(tmpdir(), 'quorate-kill-'))
  closers.push(() => rmSync(storeFolder, { recursive: true, force: true }))
  const bundleFile = join(storeFolder, 'bundle.js')
  writeFileSync(bundleFile, (await testBundle()).code)
  const { organizationId } = service
  const settings: WorkerProcessSettings = {
    address: temporal.address,
    taskQueue: `kill-${randomUUID()}`,
    baseUrl: slow.url,
    organizationId,
    privateKey: service.root.privateKey,
    storeFolder,
    bundleFile,
    naive,
  }
  const plan = makePlan(service)
  await createPlanStore(storeFolder).putPlan(plan)
  const handle = await temporal.client.workflow.start<typeof apply>('apply', {
    workflowId: `apply/${organizationId}`,
    taskQueue: settings.taskQueue,
    args: [{ organizationId, planDigest: plan.digest }],
    workflowTaskTimeout: '2s',
  })
  let killed = 0
  let pending = 0
  let counts = await countByIntent(service)
  const duplicates = () => [...counts.values()].filter((count) => count > 1).length
  while (killed < kills && !enough(duplicates())) {
    const worker = startWorker(settings)
    const before = slow.submits()
    while (slow.submits() === before && worker.exitCode === null) await delay(5)
    // The fault itself: at a random moment after this worker's first submit.
    await delay(Math.random() * 250)
    counts = await countByIntent(service)
    if (counts.size < plan.batches.length) pending++
    await kill(worker)
    killed++
  }
  const finished = naive ? await handle.terminate().then(() => 'terminated') : await finish(settings, handle.result())
  counts = await countByIntent(service)
  const lost = plan.batches.length - counts.size
  return { state: finished, killed, pending, lost, dup: duplicates(), submits: slow.submits() }
}

async function finish(settings: WorkerProcessSettings, result: Promise<{ state: string }>): Promise<string> {
  const last = startWorker(settings)
  const { state } = await result
  await kill(last)
  return state
}

test('kill: 20 workers lost at random moments change nothing but time', { timeout: 400_000 }, async () => {
  const { state, killed, pending, lost, dup, submits } = await applyUnderFire({ naive: false, kills: 20 }, () => false)
  console.log(`kills=${killed} pending=${pending} submits=${submits} lost=${lost} dup=${dup}`)
  expect({ killed, lost, dup, state }).toEqual({ killed: 20, lost: 0, dup: 0, state: 'done' })
  expect(pending).toBe(20)
  // Some answers were lost, or the kills hit nothing that mattered.
  expect(submits).toBeGreaterThan(2 * PAIRS)
})

test('kill: a body made inside the Temporal activity makes twins', { timeout: 400_000 }, async () => {
  const { killed, dup } = await applyUnderFire({ naive: true, kills: 20 }, (found) => found > 0)
  console.log(`naive: kills=${killed} dup=${dup}`)
  expect(dup).toBeGreaterThan(0)
})

function startWorker(settings: WorkerProcessSettings): ChildProcess {
  const worker = spawn(process.execPath, [join(import.meta.dirname, 'worker-process.ts'), JSON.stringify(settings)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  workers.add(worker)
  return worker
}

async function kill(worker: ChildProcess): Promise<void> {
  workers.delete(worker)
  if (worker.exitCode !== null || worker.signalCode !== null) return
  const gone = once(worker, 'exit')
  worker.kill('SIGKILL')
  await gone
}
