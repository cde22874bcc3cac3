import { StoreUnavailable } from './error.ts'
import type { Rows } from './prepared.ts'
import { withSavepoint } from './savepoint.ts'
import type { Transaction } from './transaction.ts'

/** A write that waits for its round. */
export interface WaitingWrite {
  /** Does the work in the round's transaction; the returned function answers the caller once that is committed. */
  readonly run: (tx: Transaction) => Promise<() => void>
  /** As `run`, where the transaction is this work's alone: whatever it throws ends the transaction. */
  readonly runAlone: (tx: Transaction) => Promise<() => void>
  readonly fail: (error: unknown) => void
}

/** Makes what waits of a piece of work, and the promise of its outcome. */
export function waitFor<T>(work: (tx: Transaction) => Rows<T>): {
  readonly item: WaitingWrite
  readonly done: Promise<T>
} {
  const { promise: done, resolve, reject } = Promise.withResolvers<T>()
  const answer = (value: T) => () => resolve(value)
  return {
    done,
    item: {
      fail: reject,
      runAlone: async (tx) => answer(await work(tx)),
      // Only a fault of the machine is thrown: it ends the whole round.
      async run(tx) {
        try {
          return answer(await withSavepoint(tx, () => work(tx)))
        } catch (error) {
          if (error instanceof StoreUnavailable) throw error
          return () => reject(error)
        }
      },
    },
  }
}

/**
 * Lets requests whose bytes have already arrived get into a round, instead of paying for a commit of their own: they come a few in
 * each turn of the event loop, as their stamps are verified. A turn that brings none ends it.
 */
export async function gather(count: () => number, most: number): Promise<void> {
  for (let before = 0; count() > before && count() < most; ) {
    before = count()
    await new Promise((resolve) => setImmediate(resolve))
  }
}
