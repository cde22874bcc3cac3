import { type InOrder, insertInOrder, type Transaction } from '../../store/index.ts'

export interface PolicyRow {
  id: string
  organization_id: string
  name: string
  effect: string
  /** Null when absent (holds). */
  consensus: string | null
  condition: string | null
  time: string | null
  notes: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    policies: InOrder<PolicyRow>
  }
}

/** The changes of an update; an absent member stays, null removes the expression. */
export type PolicyChange = Partial<Pick<PolicyRow, 'name' | 'effect' | 'consensus' | 'condition' | 'time' | 'notes'>>

/**
 * Says that the organization's policies have changed. A version is never used twice, so that one that was rolled back does not
 * come again with other policies.
 */
async function setPolicyVersion(tx: Transaction, organizationId: string, version: string): Promise<void> {
  await tx
    .insertInto('policy_versions')
    .values({ organization_id: organizationId, version })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet({ version }))
    .execute()
}

/** Adds a policy; `version` is the new one of the organization's policies. */
export async function insertPolicy(tx: Transaction, policy: PolicyRow, version: string): Promise<void> {
  await insertInOrder(tx, 'policies', [policy])
  await setPolicyVersion(tx, policy.organization_id, version)
}

/** Reads the organization's policies in the order of their creation. */
export async function listPolicies(tx: Transaction, organizationId: string): Promise<PolicyRow[]> {
  return tx
    .selectFrom('policies')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('policies.position')
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

/** Changes a policy; `version` is the new one of the organization's policies. */
export async function updatePolicy(
  tx: Transaction,
  organizationId: string,
  policyId: string,
  change: PolicyChange & { readonly now: number; readonly version: string },
): Promise<void> {
  const { now, version, ...columns } = change
  await tx
    .updateTable('policies')
    .set({ ...columns, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', policyId)
    .execute()
  await setPolicyVersion(tx, organizationId, version)
}

/** Deletes policies; `version` is the new one of those that are left. */
export async function deletePolicies(
  tx: Transaction,
  organizationId: string,
  policyIds: readonly string[],
  version: string,
): Promise<void> {
  await tx.deleteFrom('policies').where('organization_id', '=', organizationId).where('id', 'in', policyIds).execute()
  await setPolicyVersion(tx, organizationId, version)
}
