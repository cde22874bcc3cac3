import { inCreationOrder, type PolicyRow, type Transaction } from '../../store/index.ts'

/** What an update may change about a policy; what is absent stays, null takes the expression away. */
export type PolicyChange = Partial<Pick<PolicyRow, 'name' | 'effect' | 'consensus' | 'condition' | 'time' | 'notes'>>

/** Adds a policy. */
export async function insertPolicy(tx: Transaction, policy: PolicyRow): Promise<void> {
  await tx.insertInto('policies').values(policy).execute()
}

/** Reads the organization's policies in the order of their creation. */
export async function listPolicies(tx: Transaction, organizationId: string): Promise<PolicyRow[]> {
  return tx
    .selectFrom('policies')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy(inCreationOrder('policies'))
    .execute()
}

/** Reads one policy. */
export async function findPolicy(
  tx: Transaction,
  organizationId: string,
  policyId: string,
): Promise<PolicyRow | undefined> {
  return tx
    .selectFrom('policies')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', policyId)
    .executeTakeFirst()
}

/** Changes a policy. */
export async function updatePolicy(
  tx: Transaction,
  organizationId: string,
  policyId: string,
  change: PolicyChange & { readonly now: number },
): Promise<void> {
  const { now, ...columns } = change
  await tx
    .updateTable('policies')
    .set({ ...columns, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', policyId)
    .execute()
}

/** Deletes policies. */
export async function deletePolicies(
  tx: Transaction,
  organizationId: string,
  policyIds: readonly string[],
): Promise<void> {
  await tx.deleteFrom('policies').where('organization_id', '=', organizationId).where('id', 'in', policyIds).execute()
}
