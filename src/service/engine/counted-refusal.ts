import type { ApiError } from '../../protocol/index.ts'
import type { Transaction } from '../store/index.ts'

/**
 * Thrown by a handler's `execute` for a refusal that must be counted, such as a wrong code: everything else of the execution
 * is undone, what is counted is kept. The caller is answered with the refusal itself, not with a failed activity.
 */
export class CountedRefusal extends Error {
  override readonly name = 'CountedRefusal'
  readonly refusal: ApiError
  /** Counts, in the transaction of the request, once everything else is undone. */
  readonly count: (tx: Transaction) => Promise<void>

  constructor(refusal: ApiError, count: (tx: Transaction) => Promise<void>) {
    super(refusal.message)
    this.refusal = refusal
    this.count = count
  }
}
