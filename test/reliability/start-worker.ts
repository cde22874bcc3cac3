import { type ChildProcess, spawn } from 'node:child_process'
import { ROOMY_HEAP } from '../heap.ts'
import { compiledPrograms, programFile } from '../programs.ts'
import type { WorkerProcessSettings } from './worker-process.ts'

/** Starts a worker as a process of its own, for a test that kills it. */
export function startWorkerProcess(settings: WorkerProcessSettings): ChildProcess {
  const script = programFile('test/reliability/worker-process.ts')
  return spawn(process.execPath, [...ROOMY_HEAP, script, JSON.stringify(settings)], {
    env: { ...process.env, ...compiledPrograms() },
    stdio: 'ignore',
  })
}
