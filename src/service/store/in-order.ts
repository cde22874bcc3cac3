/**
 * Lists of an organization are in the order of creation, by a column: clocks stand still (several rows of one activity share
 * their time) or step back.
 */
import { piecesOf } from './pieces.ts'
import { prepare, type Rows } from './prepared.ts'
import type { OrderedTable, Schema } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** A row without its place, which it is given. */
export type NewRow<Table extends OrderedTable> = Omit<Schema[Table], 'position'>

const lastIn = new Map<OrderedTable, (tx: Transaction, of: { owner: string }) => Rows<{ position: number | null }[]>>()

/**
 * Adds rows of one organization behind those that are there; organizations behind the others of their parent. INVARIANT: the
 * row of the organization, or of the parent, is locked, so that nobody else takes the same place.
 */
export async function insertInOrder<Table extends OrderedTable>(
  tx: Transaction,
  table: Table,
  rows: readonly NewRow<Table>[],
): Promise<void> {
  const [first] = rows
  if (!first) return
  const { parent_id, organization_id } = first as { parent_id?: string | null; organization_id?: string }
  const owner = parent_id ?? organization_id
  const [last] = owner === undefined ? [] : await findLast(table)(tx, { owner })
  const from = (last?.position ?? 0) + 1
  // One table stands for all of them: each has the column.
  const placed = rows.map((row, index) => ({ ...row, position: from + index })) as unknown as Schema['users'][]
  for (const some of piecesOf(placed))
    await tx
      .insertInto(table as 'users')
      .values(some)
      .execute()
}

function findLast(table: OrderedTable) {
  const column = (table === 'organizations' ? 'parent_id' : 'organization_id') as 'organization_id'
  const known =
    lastIn.get(table) ??
    prepare((tx, { owner }: { owner: string }) =>
      tx
        .selectFrom(table as 'users')
        .select(({ fn }) => fn.max<number | null>('position').as('position'))
        .where(column, '=', owner),
    )
  lastIn.set(table, known)
  return known
}
