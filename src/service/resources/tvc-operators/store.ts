import { createTable, type InOrder, type Transaction } from '../../store/index.ts'

/** Who approves manifests, or holds a share of a quorum key. */
export interface TvcOperatorRow {
  id: string
  organization_id: string
  name: string
  /** Hex of 130 bytes: the key to encrypt to, and the key that signs. */
  public_key: string
  /** Whether both keys are accounts of a wallet here. */
  hosted: number
  created_at: number
  updated_at: number
}

/** A set of operators, of whom `threshold` suffice. A set never changes. */
export interface TvcOperatorSetRow {
  id: string
  organization_id: string
  name: string
  threshold: number
  created_at: number
  updated_at: number
}

export interface TvcOperatorSetMemberRow {
  organization_id: string
  set_id: string
  operator_id: string
  place: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    tvc_operators: InOrder<TvcOperatorRow>
    tvc_operator_sets: InOrder<TvcOperatorSetRow>
    tvc_operator_set_members: TvcOperatorSetMemberRow
  }
}

export const tvcOperatorTable = createTable('tvc_operators')
export const tvcOperatorSetTable = createTable('tvc_operator_sets')

/** A set with its members, in their order. */
export interface TvcOperatorSet extends TvcOperatorSetRow {
  readonly members: readonly TvcOperatorRow[]
}

/** Reads these operators, in any order. */
export async function findTvcOperators(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
): Promise<TvcOperatorRow[]> {
  if (ids.length === 0) return []
  return tx
    .selectFrom('tvc_operators')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute()
}

/** Adds a set of operators that are there. */
export async function insertTvcOperatorSet(
  tx: Transaction,
  set: TvcOperatorSetRow,
  operatorIds: readonly string[],
): Promise<void> {
  await tvcOperatorSetTable.insert(tx, [set])
  const { organization_id, id: set_id } = set
  const rows = operatorIds.map((operator_id, place) => ({ organization_id, set_id, operator_id, place }))
  await tx.insertInto('tvc_operator_set_members').values(rows).execute()
}

/** Reads sets with their members, by their ids. */
export async function findTvcOperatorSets(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TvcOperatorSet>> {
  if (ids.length === 0) return new Map()
  const sets = await tx
    .selectFrom('tvc_operator_sets')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute()
  const members = await tx
    .selectFrom('tvc_operator_set_members as members')
    .innerJoin('tvc_operators as operators', 'operators.id', 'members.operator_id')
    .selectAll('operators')
    .select('members.set_id')
    .where('members.organization_id', '=', organizationId)
    .where('members.set_id', 'in', ids)
    .orderBy('members.place')
    .execute()
  const bySet = Map.groupBy(members, ({ set_id }) => set_id)
  return new Map(sets.map((set) => [set.id, { ...set, members: bySet.get(set.id) ?? [] }]))
}

/** Deletes sets, and those of their members that are in no other set and whose keys are not accounts of a wallet here. */
export async function deleteTvcOperatorSets(
  tx: Transaction,
  organizationId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const members = await tx
    .selectFrom('tvc_operator_set_members')
    .select('operator_id')
    .where('organization_id', '=', organizationId)
    .where('set_id', 'in', ids)
    .execute()
  await tx
    .deleteFrom('tvc_operator_set_members')
    .where('organization_id', '=', organizationId)
    .where('set_id', 'in', ids)
    .execute()
  await tvcOperatorSetTable.delete(tx, organizationId, ids)
  const operatorIds = members.map(({ operator_id }) => operator_id)
  if (operatorIds.length === 0) return
  await tx
    .deleteFrom('tvc_operators')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', operatorIds)
    .where('hosted', '=', 0)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('tvc_operator_set_members as others')
            .select('others.set_id')
            .whereRef('others.operator_id', '=', 'tvc_operators.id'),
        ),
      ),
    )
    .execute()
}
