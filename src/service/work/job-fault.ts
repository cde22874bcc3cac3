/** What a thread says of a job that could not be done: a refusal in the API's words, or nothing of what went wrong. */
import { ChainError, UnreadableTransaction, UnsupportedTransaction } from '../../chain/index.ts'
import { SparkError } from '../../spark/index.ts'

/** The errors whose text is a refusal; the first that an error is an instance of. */
const REFUSALS = { UnreadableTransaction, UnsupportedTransaction, ChainError, SparkError } as const

export type JobFault = { readonly kind: keyof typeof REFUSALS; readonly refusal: string } | { readonly fault: true }

/** Says what may be said of an error: no more than the text of a refusal, for another may hold what it was given. */
export function toFault(error: unknown): JobFault {
  for (const [kind, refusal] of Object.entries(REFUSALS))
    if (error instanceof refusal) return { kind: kind as keyof typeof REFUSALS, refusal: error.message }
  return { fault: true }
}

export function fromFault(fault: JobFault): Error {
  return 'refusal' in fault ? new REFUSALS[fault.kind](fault.refusal) : new Error('a job failed in its thread')
}
