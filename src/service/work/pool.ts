import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { apiError } from '../../protocol/index.ts'
import { fromFault, type JobFault } from './job-fault.ts'
import type { JobInput, JobName, JobResult } from './jobs.ts'
import { createSteps, type Steps } from './steps.ts'
import type { JobMessage } from './thread.ts'
import { createTurns, type JobOwner } from './turns.ts'

/** Threads for the dear parts of requests. They start when they are first needed. */
export interface WorkPool {
  /**
   * Does a job beside the main thread, in its organization's turn. The secret is moved there, and wiped here and there. Throws
   * what the job throws as a refusal, `JobNotDone` where it says nothing of the request, and `ApiError` (429) for one job too many.
   */
  run<Name extends JobName>(
    name: Name,
    job: { readonly secret?: Uint8Array; readonly input: JobInput<Name> },
    share: JobOwner,
  ): Promise<JobResult<Name>>
  /** For what cannot be done beside the main thread, because nothing of it can be handed over. */
  readonly steps: Steps
  /** Jobs done so far. */
  readonly done: () => number
  /** Jobs that wait for a thread, and that one works on. */
  readonly waiting: () => number
  readonly running: () => number
  /** Ends the threads; what they were doing fails. */
  close(): Promise<void>
}

interface Waiting {
  readonly message: JobMessage
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

/** What was asked of a thread that ended, or of one that never began. */
export class JobNotDone extends Error {
  override readonly name = 'JobNotDone'
}

/** Of a job without a secret. */
const NONE = new Uint8Array()

/** From sources and from the build. */
const THREAD = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)

/** @default size one thread for each core but that of the main thread, two at most */
export function createWorkPool({ size = Math.max(1, Math.min(2, availableParallelism() - 1)) } = {}): WorkPool {
  const idle: Worker[] = []
  const busy = new Map<Worker, Waiting>()
  const waiting = createTurns<Waiting>()
  let done = 0
  let closed = false

  function start(): Worker {
    const worker = new Worker(THREAD)
    worker.on('message', (said: { result: never } | { fault: JobFault }) => {
      const job = busy.get(worker)
      busy.delete(worker)
      idle.push(worker)
      // A service that has nothing to do may end.
      worker.unref()
      done++
      if ('fault' in said) job?.reject(fromFault(said.fault))
      else job?.resolve(said.result)
      next()
    })
    worker.on('error', () => {})
    worker.on('exit', () => {
      const at = idle.indexOf(worker)
      if (at >= 0) idle.splice(at, 1)
      const job = busy.get(worker)
      busy.delete(worker)
      job?.reject(new JobNotDone('a thread ended before its job was done'))
      if (!closed) next()
    })
    return worker
  }

  function next(): void {
    while (waiting.size() > 0 && (idle.length > 0 || busy.size < size)) {
      const worker = idle.pop() ?? start()
      const job = waiting.take()!
      busy.set(worker, job)
      worker.ref()
      worker.postMessage(job.message, [job.message.secret.buffer])
    }
  }

  return {
    run(name, { secret = NONE, input }, share) {
      // A copy of its own: what is moved takes everything with it that stands in the same memory.
      const moved = new Uint8Array(secret)
      secret.fill(0)
      return new Promise((resolve, reject) => {
        const job: Waiting = { message: { name, secret: moved, input }, resolve, reject }
        if (!closed && waiting.add(share, job)) return next()
        moved.fill(0)
        reject(closed ? new JobNotDone('the threads are ending') : apiError('rateLimited'))
      })
    },
    steps: createSteps(),
    done: () => done,
    waiting: () => waiting.size(),
    running: () => busy.size,
    async close() {
      closed = true
      for (const { message, reject } of waiting.clear()) {
        message.secret.fill(0)
        reject(new JobNotDone('the threads are ending'))
      }
      await Promise.all([...idle, ...busy.keys()].map((worker) => worker.terminate()))
    },
  }
}
