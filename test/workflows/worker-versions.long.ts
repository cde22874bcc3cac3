/** Workers of two versions at once: what workers of the last release began goes on at today's, or ends where it was begun. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { WorkerVersion } from '../../src/worker/index.ts'
import { openStages, type Run, type Stage, states } from './harness.ts'
import { bundleKept, lastRelease } from './last-release/bundle.ts'

let release: Awaited<ReturnType<typeof bundleKept>>
beforeAll(async () => {
  release = await bundleKept(lastRelease)
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
