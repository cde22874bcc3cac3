/** Rows of a statement where there are many: some milliseconds, after which others have a turn (`dialect.ts`). */
const MOST = 200

/** Cuts what there is a row for into parts that a statement takes: SQLite has room for 32,766 parameters, a row has 14 at most. */
export function* piecesOf<Item>(items: readonly Item[], most: number = MOST): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += most) yield items.slice(start, start + most)
}
