/**
 * Work: what is too long for the main thread, in a pool of threads outside of the write round.
 */
export { type JobInput, type JobName, type JobResult, jobs } from './jobs.ts'
export { createWorkPool, type WorkPool } from './pool.ts'
