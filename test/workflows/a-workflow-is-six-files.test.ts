/**
 * The guide in CONTRIBUTING.md for a workflow is followed in a copy of the sources, with a made-up one: it waits for a moment and
 * is asked whether that has passed. What the guide does not list is not touched.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { compileCache } from '../built.ts'
import { environmentOf, testFolder } from '../cli/harness.ts'
import { before, copySources, filesOfGuide, follow, type GuideSteps } from '../guide.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { startTestService } from '../service/harness.ts'
import { testTemporalEnvironment } from '../temporal.ts'

const MOST_FILES = 6

const WORKFLOW = `import { defineQuery, setHandler, sleep } from '@temporalio/workflow'

export interface DeadlineInput {
  readonly afterMs: number
}
export interface DeadlineProgress {
  readonly state: 'waiting' | 'passed'
}
const deadlineProgress = defineQuery<DeadlineProgress>('progress')

/** Waits, durably. */
export async function deadline({ afterMs }: DeadlineInput): Promise<DeadlineProgress> {
  let progress: DeadlineProgress = { state: 'waiting' }
  setHandler(deadlineProgress, () => progress)
  await sleep(afterMs)
  progress = { state: 'passed' }
  return progress
}
`
const OPERATION = `import type { DeadlineProgress, deadline } from '../../workflows/deadline.ts'
import { type ApplyPlace, assertWorker } from './apply.ts'
import { followRun } from './follow.ts'

/** Begins the one deadline of an organization, or joins it, and follows it to its end. */
export async function awaitDeadline(
  { client, organizationId, taskQueue }: ApplyPlace,
  afterMs: number,
  show: (progress: DeadlineProgress) => void,
): Promise<DeadlineProgress> {
  await assertWorker(client, taskQueue)
  const handle = await client.workflow.start<typeof deadline>('deadline', {
    workflowId: \`deadline/\${organizationId}\`,
    taskQueue,
    args: [{ afterMs }],
    workflowIdConflictPolicy: 'USE_EXISTING',
  })
  const followed = { what: 'the deadline', next: 'begin it again' }
  return followRun(handle, followed, {
    ask: () => handle.query<DeadlineProgress>('progress'),
    show,
    isEnough: ({ state }) => state === 'passed',
  })
}
`
const COMMAND = `import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { awaitDeadline } from '../../operations/index.ts'
import { findPlace } from '../background/connect.ts'
import { withApplies } from '../background/temporal.ts'
import type { CommandInput } from '../command.ts'
import { writeJsonLine } from '../io.ts'

export async function deadline(input: CommandInput): Promise<ExitCode> {
  const place = await findPlace(input)
  return withApplies(input, place, async (applies) => {
    await awaitDeadline(applies, Number(input.args[0]), (progress) => writeJsonLine(input.io, { ...progress }))
    return EXIT.done
  })
}
`
const ROW = `  {
    name: 'deadline',
    summary: 'wait, durably',
    args: '<ms>',
    argMeanings: { ms: 'how long, in milliseconds' },
    example: 'quorate deadline 500',
    help: { description: 'Waits.', seeAlso: ['up'] },
    load: async () => (await import('./deadline.ts')).deadline,
  },
`

const STEPS: GuideSteps = {
  'workflows/deadline.ts': WORKFLOW,
  'workflows/index.ts': [before('export { reconcile }', "export { deadline } from './deadline.ts'\n")],
  'src/operations/deadline.ts': OPERATION,
  'src/operations/index.ts': [before('export { followRun }', "export { awaitDeadline } from './deadline.ts'\n")],
  'src/cli/commands/deadline.ts': COMMAND,
  'src/cli/commands/index.ts': [before("  {\n    name: 'up',\n", ROW)],
}

test('a workflow: a made-up one is begun, asked and shown after the few steps of the guide and nothing else', async () => {
  const listed = filesOfGuide('Add a workflow', 'deadline')
  expect(Object.keys(STEPS)).toEqual(listed)
  expect(listed.length).toBeLessThanOrEqual(MOST_FILES)
  const service = await startTestService()
  onTestFinished(() => service.close())
  const folder = testFolder()
  copySources(folder, ['src', 'activities', 'workflows'])
  follow(STEPS, folder)
  const more = { QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY, ...(await testTemporalEnvironment()) }
  const env = {
    PATH: process.env['PATH'],
    ...compileCache(),
    ...environmentOf(service, folder, service.root.privateKey, more),
  }
  const main = join(folder, 'src/cli/main.ts')
  const worker = spawn(process.execPath, [main, 'worker', '--json'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(worker, 'exit')
  onTestFinished(async () => {
    worker.kill('SIGTERM')
    await ended
  })
  expect(String(await Promise.race([once(worker.stdout, 'data'), ended]))).toContain('"ready":true')
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'deadline', '500'], { cwd: folder, env })
  const said = stdout.trim().split('\n')
  expect(said[0]).toBe('{"state":"waiting"}')
  expect(said.at(-1)).toBe('{"state":"passed"}')
})
