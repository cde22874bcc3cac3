import { beginSpan, inSpan, isTraced, type OpenSpan } from '../../telemetry/index.ts'
import type { Database, Transaction } from '../store/index.ts'

/**
 * A write of an organization, as `Database.write` does it, with the spans of its transaction: from its place in the queue to the
 * commit, which has a span of its own. The store runs it in a round of many, in which the span of the moment is nobody's.
 */
export function writeInSpans<T>(
  database: Database,
  organizationId: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  if (!isTraced()) return database.write(work, organizationId)
  return inSpan('transaction', async (span) => {
    let commit: OpenSpan | undefined
    try {
      return await database.write(
        (tx) =>
          span.within(async () => {
            const result = await work(tx)
            commit = beginSpan('commit')
            return result
          }),
        organizationId,
      )
    } finally {
      commit?.end()
    }
  })
}
