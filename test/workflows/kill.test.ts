/**
 * The worker is killed at random moments while work is pending. What must hold: every batch ends, and each intent is
 * one activity at the service (stories G1). The naive variant, which makes the body inside the Temporal activity, must
 * fail the same test, or the test shows nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { createStage, type Stage } from './harness.ts'
import type { TagBatch } from './tag-plan.ts'
import type { WorkerProcessSettings } from './worker-process.ts'

const stages: Stage[] = []
const workers = new Set<ChildProcess>()
afterEach(async () => {
  for (const worker of workers) await kill(worker)
  for (const stage of stages.splice(0)) await stage.close()
})

/** Chains of four, five of them at a time: there is always something to submit and something that must wait. */
const tags: readonly TagBatch[] = Array.from({ length: 100 }, (_, n) => ({
  name: `t${n}`,
  ...(n % 4 === 0 ? {} : { uses: [`t${n - 1}`] }),
}))

async function applyUnderFire({ naive, kills }: { naive: boolean; kills: number }, enough: (dup: number) => boolean) {
  const stage = await createStage({ worker: false })
  stages.push(stage)
  // Long enough that a kill often falls between an activity being carried out and its answer.
  stage.api.answerAfterMs = 60
  const bundleFile = join(stage.storeFolder, 'bundle.js')
  writeFileSync(bundleFile, stage.bundle.code)
  const settings: WorkerProcessSettings = {
    address: stage.address,
    taskQueue: stage.taskQueue,
    baseUrl: stage.api.baseUrl,
    organizationId: stage.organizationId,
    storeFolder: stage.storeFolder,
    bundleFile,
    naive,
  }
  const run = await stage.startApply(tags)
  let killed = 0
  let pending = 0
  const duplicates = () => [...stage.api.countByIntent().values()].filter((count) => count > 1).length
  while (killed < kills && !enough(duplicates())) {
    const worker = startWorker(settings)
    const before = stage.api.submits.length
    while (stage.api.submits.length === before && worker.exitCode === null) await delay(5)
    // The fault itself: at a random moment after this worker's first submit.
    await delay(Math.random() * 300)
    if (stage.api.countByIntent().size < tags.length) pending++
    await kill(worker)
    killed++
  }
  if (naive) {
    await run.handle.terminate()
    return { state: 'terminated', killed, pending, lost: 0, dup: duplicates(), submits: stage.api.submits.length }
  }
  const last = startWorker(settings)
  const { state } = await run.ended()
  await kill(last)
  const lost = tags.length - stage.api.countByIntent().size
  return { state, killed, pending, lost, dup: duplicates(), submits: stage.api.submits.length }
}

test('kill: 20 workers lost at random moments change nothing but time', { timeout: 240_000 }, async () => {
  const { state, killed, pending, lost, dup, submits } = await applyUnderFire({ naive: false, kills: 20 }, () => false)
  console.log(`kills=${killed} pending=${pending} submits=${submits} lost=${lost} dup=${dup}`)
  expect({ killed, pending, lost, dup, state }).toEqual({
    killed: 20,
    pending: 20,
    lost: 0,
    dup: 0,
    state: 'done',
  })
  // Some answers were lost, or the kills hit nothing that mattered.
  expect(submits).toBeGreaterThan(tags.length)
})

test('kill: a body made inside the Temporal activity makes twins', { timeout: 240_000 }, async () => {
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
