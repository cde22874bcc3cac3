/** The thread in which dear jobs are done, one after the other. */
import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { toFault } from './job-fault.ts'
import { type JobInput, type JobName, jobs } from './jobs.ts'

/**
 * On Linux a priority is that of the thread alone: where there are few cores, the thread that answers goes first. Counted from
 * that of the service, which may be lower already: none but root may raise one.
 */
if (process.platform === 'linux') setPriority(0, Math.min(19, getPriority(0) + 5))

export interface JobMessage<Name extends JobName = JobName> {
  readonly name: Name
  readonly secret: Uint8Array<ArrayBuffer>
  readonly input: JobInput<Name>
}

parentPort!.on('message', ({ name, secret, input }: JobMessage) => {
  try {
    const result = (jobs[name] as (secret: Uint8Array, input: unknown) => object)(secret, input)
    const moved = 'privateKeys' in result ? [(result.privateKeys as Uint8Array<ArrayBuffer>).buffer] : []
    parentPort!.postMessage({ result }, moved)
  } catch (error) {
    parentPort!.postMessage({ fault: toFault(error) })
  } finally {
    secret.fill(0)
  }
})
