/**
 * What a look at a watched organization has read inside sub-organizations, kept every few of them until the look has ended: one that
 * was cut off, by a worker that was ended or an API that went away, is gone on with by the next. It counts as long as the definitions'
 * `sweep`, in which the organization need not be read again either, and not beside news from inside.
 */
import type { Actual } from '../src/resources/index.ts'
import type { WatchLedger } from './watch-ledger.ts'

/** So many are kept at once: at most so many, and those that are being read, are read again. */
const KEPT_AT_ONCE = 16

/** Gives what was read for this question since the look began, and asks it otherwise. */
export type ReadOnce = (question: string, read: () => Promise<Actual>) => Promise<Actual>

/** Opens what looks before have left of one organization. */
export async function openReads(
  watches: Pick<WatchLedger, 'readsOf' | 'putReads' | 'removeReads'>,
  organizationId: string,
  {
    news,
    sweepMs,
    clock,
  }: { readonly news: string | undefined; readonly sweepMs: number; readonly clock: () => number },
): Promise<{ readonly readOnce: ReadOnce; forget(): Promise<void> }> {
  const parts = await watches.readsOf(organizationId)
  const counts = parts.filter((part) => part.news === news && clock() - part.at < sweepMs)
  const known = new Map(counts.flatMap(({ reads }) => Object.entries(reads)))
  if (counts.length < parts.length) {
    // Looks that fail one after the other would pile up what is too old.
    await watches.removeReads(organizationId, parts.length)
    for (const [index, part] of counts.entries()) await watches.putReads(organizationId, index, part)
  }
  let written = counts.length
  let since = clock()
  let unwritten: (readonly [string, Actual])[] = []
  return {
    async readOnce(question, read) {
      const before = known.get(question)
      if (before) return before
      const actual = await read()
      unwritten.push([question, actual])
      if (unwritten.length < KEPT_AT_ONCE) return actual
      const part = { at: since, news, reads: Object.fromEntries(unwritten) }
      unwritten = []
      since = clock()
      await watches.putReads(organizationId, written++, part)
      return actual
    },
    forget: () => watches.removeReads(organizationId, written),
  }
}
