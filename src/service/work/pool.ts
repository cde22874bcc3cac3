import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { fromFault, type JobFault, type JobInput, type JobName, type JobResult } from './jobs.ts'
import type { JobMessage } from './thread.ts'

/** Threads for the dear parts of requests. They start when they are first needed. */
export interface WorkPool {
  /** Does a job beside the main thread. The secret is moved there, and wiped here and there. Throws `ChainError`. */
  run<Name extends JobName>(name: Name, secret: Uint8Array, input: JobInput<Name>): Promise<JobResult<Name>>
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

/** From sources and from the build. */
const THREAD = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)

/** @default size one thread for each core but that of the main thread, two at most */
export function createWorkPool({ size = Math.max(1, Math.min(2, availableParallelism() - 1)) } = {}): WorkPool {
  const idle: Worker[] = []
  const busy = new Map<Worker, Waiting>()
  const waiting: Waiting[] = []
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
      job?.message.secret.fill(0)
      job?.reject(new Error('a thread ended before its job was done'))
      if (!closed) next()
    })
    return worker
  }

  function next(): void {
    while (waiting.length > 0 && (idle.length > 0 || busy.size < size)) {
      const worker = idle.pop() ?? start()
      const job = waiting.shift()!
      busy.set(worker, job)
      worker.ref()
      worker.postMessage(job.message, [job.message.secret.buffer])
    }
  }

  return {
    run(name, secret, input) {
      // A copy of its own: what is moved takes everything with it that stands in the same memory.
      const moved = new Uint8Array(secret)
      secret.fill(0)
      if (closed) {
        moved.fill(0)
        return Promise.reject(new Error('the threads are ending'))
      }
      return new Promise((resolve, reject) => {
        waiting.push({ message: { name, secret: moved, input }, resolve, reject })
        next()
      })
    },
    done: () => done,
    waiting: () => waiting.length,
    running: () => busy.size,
    async close() {
      closed = true
      for (const { message, reject } of waiting.splice(0)) {
        message.secret.fill(0)
        reject(new Error('the threads are ending'))
      }
      await Promise.all([...idle, ...busy.keys()].map((worker) => worker.terminate()))
    },
  }
}
