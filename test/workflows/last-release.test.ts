/**
 * What today's workflows have recorded goes on at workers of the last release, and a change that is not deterministic is found by the
 * histories of each workflow. `worker-versions.long.ts` has workers of two versions at once.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
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
  // Nor does a look that repairs inside sub-organizations: the last release repaired nothing there.
  const known = sealedHistories().filter((name) => !/^(shown-|reconcile-repair-inside)/.test(name))
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
