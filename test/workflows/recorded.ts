import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import { type ReplayWorkerOptions, Worker, type WorkflowBundle } from '@temporalio/worker'
import { createDataConverter } from '../../src/worker/index.ts'
import { testSeal } from '../test-seal.ts'
import { type History, historyFromText, historyToText } from './history-json.ts'

/** Histories of today's form; what stands beside the folder was recorded in clear, before payloads were sealed. */
const FOLDER = join(import.meta.dirname, 'histories', 'sealed')

/**
 * Reads the history of a workflow and replays it. With a name, and QUORATE_RECORD_HISTORIES set, it is kept: do that after a
 * change that no running workflow can notice.
 */
export async function replayHistory(
  handle: Pick<WorkflowHandle, 'fetchHistory' | 'workflowId'>,
  workflowBundle: WorkflowBundle,
  record?: string,
): Promise<History> {
  const history = await handle.fetchHistory()
  await replaySealed(history, handle.workflowId, workflowBundle)
  if (record && process.env['QUORATE_RECORD_HISTORIES']) {
    writeFileSync(join(FOLDER, `${record}.json`), historyToText(history))
  }
  return history
}

/** Payloads are bound to the id of their workflow, which a history says itself. */
export function replaySealed(history: History, workflowId: string, workflowBundle: WorkflowBundle): Promise<void> {
  return replay({ workflowBundle, dataConverter: createDataConverter(testSeal) }, history, workflowId)
}

/** Replays what was recorded before payloads were sealed. */
export function replayClear(history: History, workflowBundle: WorkflowBundle): Promise<void> {
  return replay({ workflowBundle }, history)
}

/**
 * In a thread of the workflows' own, as a worker runs them. Without being told, Temporal replays in the thread of its caller,
 * and its hooks on promises, errors and rejections stay in the process that test files share.
 */
function replay(options: ReplayWorkerOptions, history: History, workflowId?: string): Promise<void> {
  const threaded = { ...options, debugMode: false }
  return Worker.runReplayHistory(threaded, history, workflowId)
}

export function sealedHistories(): readonly string[] {
  return readdirSync(FOLDER).filter((name) => name.endsWith('.json'))
}

export function readSealed(name: string): { readonly history: History; readonly workflowId: string } {
  const history = historyFromText(readFileSync(join(FOLDER, name), 'utf8'))
  return { history, workflowId: history.events![0]!.workflowExecutionStartedEventAttributes!.workflowId! }
}
