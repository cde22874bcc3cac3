/**
 * Work: what is too long for the main thread, in a pool of threads outside of the write round.
 */
export { type JobInput, type JobName, type JobResult, jobs, type SendToRead } from './jobs.ts'
export { createWorkPool, JobNotDone, type WorkPool } from './pool.ts'
export type { Registration, RegistrationParams } from './registrations.ts'
export type { SparkOperation } from './spark.ts'
export type { JobOwner } from './turns.ts'
