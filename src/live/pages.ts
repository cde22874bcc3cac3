import { takeList, takeRecord, takeText, type WireRecord } from '../resources/index.ts'
import { LiveError, readAnswer } from './error.ts'

/** The most that one page may hold (docs/protocol/requests.md#pages-and-filters). */
export const PAGE_LIMIT = 100
/** What a page holds when nobody says how many (docs/protocol/requests.md#pages-and-filters). */
const DEFAULT_PAGE = 10
/** Far more than an organization may hold; a list that goes on beyond it leads in a circle. */
const MOST_PAGES = 10_000

export interface PagedList {
  /** The query, for errors. */
  readonly query: string
  /** Where the list stands in the answer, and the id of one of its records. */
  readonly list: string
  readonly id: string
  /** Whether a page may be cut to whatever an answer has room for: then only an empty one is the end. @default false */
  readonly mayBeShort?: boolean
  /** Asks for one page: the records after (or before) the one with this id; the first page without. */
  readonly ask: (cursor: string | undefined) => Promise<unknown>
}

/**
 * Reads a list page by page. A page that is not full may have been cut by a service that gives fewer than it is asked
 * for, so the list has ended only after a page that holds less than any service gives by itself. A record that comes
 * twice is an error: where pages overlap they may also leave gaps, and a gap would look like something deleted.
 */
export async function* readPages({
  query,
  list,
  id,
  mayBeShort = false,
  ask,
}: PagedList): AsyncGenerator<readonly WireRecord[]> {
  const seen = new Set<string>()
  let cursor: string | undefined
  for (let page = 1; page <= MOST_PAGES; page++) {
    const answer = await ask(cursor)
    const records = readAnswer(query, () =>
      takeList(takeRecord(answer, 'the answer'), list, 'answer').map((record) =>
        takeRecord(record, `a record of \`${list}\``),
      ),
    )
    for (const record of records) {
      const key = readAnswer(query, () => takeText(record, id, 'record'))
      if (seen.has(key)) {
        throw new LiveError('live/page-repeated', `page ${page} of \`${query}\` repeats a record of an earlier page`, {
          facts: { query, page, [id]: key },
          next: 'run again; nothing that was read is used',
        })
      }
      seen.add(key)
      cursor = key
    }
    yield records
    if (records.length < (mayBeShort ? 1 : DEFAULT_PAGE)) return
  }
  throw new LiveError('live/endless-list', `\`${query}\` did not end after ${MOST_PAGES} pages`, { facts: { query } })
}
