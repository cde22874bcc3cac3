import { createTable, type InOrder, storedList, type Transaction } from '../../store/index.ts'

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

export const policyTable = createTable('policies')
export const policyList = storedList('policies', ['name', 'consensus', 'condition', 'time', 'notes'])

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
  await policyTable.insert(tx, [policy])
  await setPolicyVersion(tx, policy.organization_id, version)
}

/** Changes a policy; `version` is the new one of the organization's policies. */
export async function updatePolicy(
  tx: Transaction,
  organizationId: string,
  policyId: string,
  change: PolicyChange & { readonly now: number; readonly version: string },
): Promise<void> {
  const { version, ...columns } = change
  await policyTable.update(tx, organizationId, policyId, columns)
  await setPolicyVersion(tx, organizationId, version)
}

/** Deletes policies; `version` is the new one of those that are left. */
export async function deletePolicies(
  tx: Transaction,
  organizationId: string,
  policyIds: readonly string[],
  version: string,
): Promise<void> {
  await policyTable.delete(tx, organizationId, policyIds)
  await setPolicyVersion(tx, organizationId, version)
}
