import { compilePolicy, indexPolicies, type PolicyIndex, type PolicyText } from '../../policy/index.ts'
import { listPolicies } from '../resources/policies/store.ts'
import { type PolicyRow, type PolicyVersion, readPolicyVersion, type Transaction } from '../store/index.ts'

/** Gives an organization's policies, compiled and indexed. */
export type PolicySource = (
  tx: Transaction,
  organizationId: string,
) => Promise<{ readonly version: PolicyVersion; readonly policies: PolicyIndex }>

/** Organizations whose policies are kept compiled: a few hundred kB each at the limit of 100 policies. */
const MAX_ORGANIZATIONS = 256

/**
 * Creates a source that compiles an organization's policies once for each version of them. The version is read in the
 * caller's own transaction and changes in the transaction that changes a policy, so what is given is never older or
 * newer than what that transaction sees; a version that was rolled back never comes again.
 */
export function createPolicySource(): PolicySource {
  const compiled = new Map<string, { version: string; policies: PolicyIndex }>()
  return async (tx, organizationId) => {
    const version = await readPolicyVersion(tx, organizationId)
    const known = compiled.get(organizationId)
    compiled.delete(organizationId)
    const fresh =
      known?.version === version.id
        ? known
        : {
            version: version.id,
            policies: indexPolicies(
              (await listPolicies(tx, organizationId)).map((row) => compilePolicy(toPolicyText(row))),
            ),
          }
    compiled.set(organizationId, fresh)
    if (compiled.size > MAX_ORGANIZATIONS) compiled.delete(compiled.keys().next().value!)
    return { version, policies: fresh.policies }
  }
}

function toPolicyText(row: PolicyRow): PolicyText {
  return {
    id: row.id,
    name: row.name,
    effect: row.effect as PolicyText['effect'],
    consensus: row.consensus ?? undefined,
    condition: row.condition ?? undefined,
    time: row.time ?? undefined,
  }
}
