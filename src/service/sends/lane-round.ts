/**
 * Going through the sends of an address. INVARIANT: a question about one send that a node leaves without an answer holds up no
 * other, unless the others must come after it.
 */
import { isNodeFault } from '../nodes/index.ts'
import type { SendRow } from '../resources/sends/store.ts'
import { StoreUnavailable } from '../store/index.ts'
import type { SendTools } from './family.ts'

/** After so many without an answer in a row, or so long, it is the node that is away: the others wait for the next turn. */
const MOST_UNANSWERED = 8
const MOST_MS = 5_000

/**
 * Does the work of each send; after one whose work says `stop` it begins no other. Throws the first error of a node once it has
 * been through all, an error of the store at once, and logs any other.
 */
export type LaneRound = (rows: readonly SendRow[], work: (row: SendRow) => Promise<unknown>) => Promise<void>

export interface LaneRoundOptions {
  /** How many are worked on at the same time. @default 1 */
  readonly atOnce?: number
  /** Whether none is begun after one without an answer. @default false */
  readonly inOrder?: boolean
}

/** Creates what goes through sends; it remembers which had no answer the last time, and does those after the others. */
export function createLaneRound(
  { logger }: Pick<SendTools, 'logger'>,
  { atOnce = 1, inOrder = false }: LaneRoundOptions = {},
): LaneRound {
  const unanswered = new Set<string>()
  return async (rows, work) => {
    const left = inOrder
      ? [...rows]
      : rows.toSorted((a, b) => Number(unanswered.has(a.id)) - Number(unanswered.has(b.id)))
    let first: Error | undefined
    let inARow = 0
    let answeredAt = performance.now()
    const doOne = async (row: SendRow): Promise<unknown> => {
      try {
        const said = await work(row)
        unanswered.delete(row.id)
        inARow = 0
        answeredAt = performance.now()
        return said
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        if (isNodeFault(error)) {
          unanswered.add(row.id)
          first ??= error
          inARow++
          return inOrder ? 'stop' : undefined
        }
        logger.warn('a send waits', { caip2: row.caip2, sendId: row.id, reason: String(error) })
        return undefined
      }
    }
    const isAway = () => inARow >= MOST_UNANSWERED || (inARow > 0 && performance.now() - answeredAt >= MOST_MS)
    while (left.length > 0 && !isAway()) {
      const outcomes = await Promise.allSettled(left.splice(0, atOnce).map(doOne))
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
      if (outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value === 'stop')) break
    }
    if (first !== undefined) throw first
  }
}
