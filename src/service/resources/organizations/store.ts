import { insertInOrder, type OrganizationRow, type Transaction } from '../../store/index.ts'

/** Adds an organization. Its quorum's members are written by `setQuorum`, once their users are there. */
export async function insertOrganization(
  tx: Transaction,
  organization: Omit<OrganizationRow, 'deleted_at'>,
): Promise<void> {
  await insertInOrder(tx, 'organizations', [{ ...organization, deleted_at: null }])
}

/** Reads an organization; a deleted one is not there. */
export async function findOrganization(tx: Transaction, organizationId: string): Promise<OrganizationRow | undefined> {
  return tx
    .selectFrom('organizations')
    .selectAll()
    .where('id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

/** Whether an organization has this id, or has had it. */
export async function isOrganizationIdTaken(tx: Transaction, organizationId: string): Promise<boolean> {
  const row = await tx.selectFrom('organizations').select('id').where('id', '=', organizationId).executeTakeFirst()
  return row !== undefined
}

/** Reads who answers for an organization, one that was deleted too: its parent, or a parent itself. */
export async function findBillingOrganization(tx: Transaction, organizationId: string): Promise<string> {
  const { parent_id } = await tx
    .selectFrom('organizations')
    .select('parent_id')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return parent_id ?? organizationId
}

/** Gives an organization another name. */
export async function renameOrganization(
  tx: Transaction,
  organizationId: string,
  change: { readonly name: string; readonly now: number },
): Promise<void> {
  await tx
    .updateTable('organizations')
    .set({ name: change.name, updated_at: change.now })
    .where('id', '=', organizationId)
    .execute()
}
