/**
 * What most resources ask of their table, written once: the rows of an organization by their ids, in the order of creation.
 * Nothing here names a table; a resource's `store.ts` says which is its own, and has the statements that only it needs.
 */
import { insertInOrder, type NewRow } from './in-order.ts'
import { piecesOf } from './pieces.ts'
import { prepare } from './prepared.ts'
import type { OrderedTable, Schema } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** The statements of one table. An id of another organization is as one that does not exist. */
export interface Table<Name extends OrderedTable> {
  readonly name: Name
  /** Adds rows behind those that are there. */
  insert(tx: Transaction, rows: readonly NewRow<Name>[]): Promise<void>
  /** Reads the rows of the organization, in the order of their creation. */
  list(tx: Transaction, organizationId: string): Promise<Schema[Name][]>
  /** Reads one row. */
  find(tx: Transaction, organizationId: string, id: string): Promise<Schema[Name] | undefined>
  /** Counts the rows of the organization. */
  count(tx: Transaction, organizationId: string): Promise<number>
  /** Changes columns of one row; `now` is when. */
  readonly update: 'updated_at' extends keyof Schema[Name] ? Update<Name> : never
  /** Deletes rows. */
  delete(tx: Transaction, organizationId: string, ids: readonly string[]): Promise<void>
}

type Update<Name extends OrderedTable> = (
  tx: Transaction,
  organizationId: string,
  id: string,
  change: Partial<NewRow<Name>> & { readonly now: number },
) => Promise<void>

/** Makes the statements of a table. */
export function createTable<Name extends Exclude<OrderedTable, 'organizations'>>(name: Name): Table<Name> {
  // One table stands for all of them, since each has an id, an organization, a place, and times.
  const table = name as 'users'
  const all = prepare((tx, of: { organizationId: string }) =>
    tx.selectFrom(table).selectAll().where('organization_id', '=', of.organizationId).orderBy('position'),
  )
  const one = prepare((tx, of: { organizationId: string; id: string }) =>
    tx.selectFrom(table).selectAll().where('organization_id', '=', of.organizationId).where('id', '=', of.id),
  )
  const number = prepare((tx, of: { organizationId: string }) =>
    tx
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('organization_id', '=', of.organizationId),
  )
  const update: Update<Name> = async (tx, organizationId, id, { now, ...columns }) => {
    await tx
      .updateTable(table)
      .set({ ...(columns as Partial<Schema['users']>), updated_at: now })
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .execute()
  }
  return {
    name,
    update: update as Table<Name>['update'],
    insert: (tx, rows) => insertInOrder(tx, name, rows),
    list: async (tx, organizationId) => (await all(tx, { organizationId })) as unknown as Schema[Name][],
    async find(tx, organizationId, id) {
      const [row] = await one(tx, { organizationId, id })
      return row as unknown as Schema[Name] | undefined
    },
    async count(tx, organizationId) {
      const [row] = await number(tx, { organizationId })
      return Number(row!.count)
    },
    async delete(tx, organizationId, ids) {
      for (const some of piecesOf(ids))
        await tx.deleteFrom(table).where('organization_id', '=', organizationId).where('id', 'in', some).execute()
    },
  }
}
