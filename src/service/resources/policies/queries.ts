import { apiError } from '../../../protocol/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { policyTable } from './store.ts'
import { toWirePolicy } from './wire.ts'

const getPolicy: QueryOf<'get_policy'> = async ({ tx, organizationId }, { policyId }) => {
  const policy = await policyTable.find(tx, organizationId, policyId)
  if (!policy) throw apiError('notFound', 'policy', policyId)
  return { policy: toWirePolicy(policy) }
}

const listAllPolicies: QueryOf<'list_policies'> = async ({ tx, organizationId }) => ({
  policies: (await policyTable.list(tx, organizationId)).map(toWirePolicy),
})

export const policyQueries = { get_policy: getPolicy, list_policies: listAllPolicies } satisfies QueryRows
