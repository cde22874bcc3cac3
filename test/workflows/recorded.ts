import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import { type ReplayWorkerOptions, Worker, type WorkflowBundle } from '@temporalio/worker'
import { createDataConverter } from '../../src/worker/index.ts'
import { testSeal } from '../test-seal.ts'
import { type History, historyFromText, historyToText } from './history-json.ts'

/** Histories of today's form; what stands beside the folder was recorded in clear, before payloads were sealed. */
const FOLDER = join(import.meta.dirname, 'histories', 'sealed')

/** Replays histories one after the other, against the workflows of one bundle. */
export interface Replayer {
  /** Fails if the workflows of today would do other than the history says. Payloads are bound to the id of their workflow. */
  replay(history: History, workflowId: string): Promise<void>
  /**
   * Reads the history of a workflow and replays it. With a name, and QUORATE_RECORD_HISTORIES set, it is kept: do that after
   * a change that no running workflow can notice.
   */
  replayOf(handle: Pick<WorkflowHandle, 'fetchHistory' | 'workflowId'>, record?: string): Promise<void>
  close(): Promise<void>
}

/** Replays what is sealed. */
export function createReplayer(workflowBundle: WorkflowBundle): Replayer {
  return replayerOf({ workflowBundle, dataConverter: createDataConverter(testSeal) })
}

/** Replays what was recorded before payloads were sealed. */
export function createClearReplayer(workflowBundle: WorkflowBundle): Replayer {
  return replayerOf({ workflowBundle })
}

/**
 * One worker for all histories, whose making is what costs, in a thread of the workflows' own, as a worker runs them. Without
 * being told, Temporal replays in the thread of its caller, and its hooks on promises, errors and rejections stay in the process
 * that test files share.
 */
function replayerOf(options: ReplayWorkerOptions): Replayer {
  const threaded = { ...options, debugMode: false }
  const { readable, writable } = new TransformStream<{ history: History; workflowId: string }>()
  const histories = writable.getWriter()
  const results = Worker.runReplayHistories(threaded, readable)
  const replay = async (history: History, workflowId: string) => {
    const [, { value }] = await Promise.all([histories.write({ history, workflowId }), results.next()])
    if (value === undefined) throw new Error('the worker that replays has ended')
    if (value.error) throw value.error
  }
  return {
    replay,
    async replayOf(handle, record) {
      const history = await handle.fetchHistory()
      await replay(history, handle.workflowId)
      if (record && process.env['QUORATE_RECORD_HISTORIES']) {
        writeFileSync(join(FOLDER, `${record}.json`), historyToText(history))
      }
    },
    async close() {
      await results.return?.()
    },
  }
}

export function sealedHistories(): readonly string[] {
  return readdirSync(FOLDER).filter((name) => name.endsWith('.json'))
}

export function readSealed(name: string): { readonly history: History; readonly workflowId: string } {
  const history = historyFromText(readFileSync(join(FOLDER, name), 'utf8'))
  return { history, workflowId: history.events![0]!.workflowExecutionStartedEventAttributes!.workflowId! }
}
