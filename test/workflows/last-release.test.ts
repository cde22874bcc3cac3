/**
 * Workers of two versions at once: what today's workflows have recorded goes on at workers of the last release, what these began goes
 * on at today's, and a change that is not deterministic is found by the histories of each workflow.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { WorkerVersion } from '../../src/worker/index.ts'
import { openStages, type Run, type Stage, states } from './harness.ts'
import { bundleKept, lastRelease } from './last-release/bundle.ts'
import { createReplayer, type Replayer, readSealed, sealedHistories } from './recorded.ts'

let release: Awaited<ReturnType<typeof bundleKept>>
beforeAll(async () => {
  release = await bundleKept(lastRelease)
})

describe(`replay: the workflows of ${lastRelease.date}`, () => {
  let replayer: Replayer
  beforeAll(() => {
    replayer = createReplayer(release)
  })
  afterAll(() => replayer.close())

  // What shows itself to lists of workflows, the last release did not know: none of those goes back (docs/reconciler.md).
  const known = sealedHistories().filter((name) => !name.startsWith('shown-'))
  test.each(known)('%s goes on at a worker of the last release', async (name) => {
    const { history, workflowId } = readSealed(name)
    await replayer.replay(history, workflowId)
  })
})

test('replay: one more step at the beginning of each workflow is refused by every history', async () => {
  const changed = new Set<string>()
  const wrong = await bundleKept(lastRelease, (path, text) => {
    if (!/^workflows\/(apply|apply-inside|reconcile|rotate|send|send-batch)\.ts$/.test(path)) return text
    const edited = text.replace(
      /^export async function (\w+)\([^)]*\): Promise<[^\n]*> \{\n/m,
      (head, name: string) => {
        changed.add(name)
        return `${head}  await pause(1_000)\n`
      },
    )
    return `import { sleep as pause } from '@temporalio/workflow'\n${edited}`
  })
  expect([...changed]).toEqual(
    expect.arrayContaining(['apply', 'applyInside', 'reconcile', 'rotate', 'send', 'sendBatch']),
  )
  const replayer = createReplayer(wrong)
  onTestFinished(() => replayer.close())
  for (const name of sealedHistories()) {
    const { history, workflowId } = readSealed(name)
    await expect(replayer.replay(history, workflowId), name).rejects.toThrow(/nondeterminism|determinism/i)
  }
})

describe('versions of workers', () => {
  const WORKFLOWS = 10

  /** Ten applies that wait for bob, begun by workers of the last release. */
  async function waitingAt(version: Omit<WorkerVersion, 'buildId'>) {
    const stages = await openStages(undefined, { workers: 'none' })
    onTestFinished(() => stages.close())
    const all: { readonly stage: Stage; run: Run }[] = []
    const created = await Promise.all(Array.from({ length: WORKFLOWS }, () => stages.create()))
    const old: WorkerVersion = { ...version, buildId: 'old' }
    const stopOld = await stages.addWorker({ bundle: release, version: old })
    await stages.makeCurrent(old)
    for (const stage of created) {
      onTestFinished(() => stage.close())
      stage.api.decide = () => 'waits'
      // Begun by a command of today, at a worker that does not know of it.
      all.push({ stage, run: await stage.startApply([{ name: 'treasury' }], { shownBy: 'memo' }) })
    }
    for (const { run } of all) await run.until(({ batches }) => batches[0]?.state === 'waiting')
    return { stages, all, stopOld }
  }

  async function approve({ stage, run }: { readonly stage: Stage; readonly run: Run }): Promise<void> {
    const { batches } = await run.until((progress) => progress.batches[0]?.fingerprint !== undefined)
    stage.api.vote('bob', batches[0]!.fingerprint!, 'approve')
  }

  /** Build ids of the workers that took workflow tasks of a run, in order. */
  async function buildsOf(run: Run): Promise<readonly string[]> {
    const { events = [] } = await run.history()
    const builds = (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: task }) => {
      const build = task?.deploymentVersion?.buildId
      return build ? [build] : []
    })
    return [...new Set(builds)]
  }

  test('ten applies that wait go on at the new version, none is lost, and the old workers can end', async () => {
    const version = { deployment: `test-${randomUUID()}`, versioning: 'auto-upgrade' } as const
    const { stages, all, stopOld } = await waitingAt(version)
    const next: WorkerVersion = { ...version, buildId: 'new' }
    await stages.addWorker({ version: next })
    await stages.makeCurrent(next)
    await stopOld()
    for (const one of all) await approve(one)
    for (const { run, stage } of all) {
      expect(states(await run.ended())).toEqual(['completed'])
      expect([...stage.api.countByIntent().values()]).toEqual([1])
      expect(await buildsOf(run)).toEqual(['old', 'new'])
    }
  })

  test('pinned ones end at the version that began them, beside new ones at the new one', async () => {
    const version = { deployment: `test-${randomUUID()}`, versioning: 'pinned' } as const
    const { stages, all } = await waitingAt(version)
    const next: WorkerVersion = { ...version, buildId: 'new' }
    const stage = await stages.create()
    onTestFinished(() => stage.close())
    await stages.addWorker({ version: next })
    await stages.makeCurrent(next)
    const later = await stage.startApply([{ name: 'ops' }])
    expect(states(await later.ended())).toEqual(['completed'])
    expect(await buildsOf(later)).toEqual(['new'])
    for (const one of all) await approve(one)
    for (const { run } of all) {
      expect(states(await run.ended())).toEqual(['completed'])
      expect(await buildsOf(run)).toEqual(['old'])
    }
  })
})
