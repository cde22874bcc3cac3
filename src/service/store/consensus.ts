import { type Rows, remember, whenRead } from './prepared.ts'
import type { Transaction } from './transaction.ts'

const quorumOf = remember((tx, of: { organizationId: string }) =>
  tx
    .selectFrom('organizations')
    .leftJoin('quorum_members', 'quorum_members.organization_id', 'organizations.id')
    .select(['organizations.quorum_threshold', 'quorum_members.user_id'])
    .where('organizations.id', '=', of.organizationId)
    .orderBy('quorum_members.position'),
)
const policyVersion = remember((tx, of: { organizationId: string }) =>
  tx
    .selectFrom('policy_versions')
    .leftJoin('policy_sets', (join) =>
      join
        .onRef('policy_sets.organization_id', '=', 'policy_versions.organization_id')
        .onRef('policy_sets.version', '=', 'policy_versions.version'),
    )
    .select(['policy_versions.version', 'policy_sets.version as kept'])
    .where('policy_versions.organization_id', '=', of.organizationId),
)

/** Reads who the root quorum is and how many of them it takes. */
export function readRootQuorum(
  tx: Transaction,
  organizationId: string,
): Rows<{ userIds: string[]; threshold: number }> {
  return whenRead(quorumOf(tx, { organizationId }), (rows) => ({
    userIds: rows.map(({ user_id: userId }) => userId).filter((userId) => userId !== null),
    threshold: rows[0]!.quorum_threshold,
  }))
}

/** A version of an organization's policies: it differs whenever any of them does. */
export interface PolicyVersion {
  readonly id: string
  readonly organizationId: string
  /** Whether its set of policies is kept already, for `get_policy_evaluations`. */
  readonly isKept: boolean
}

/** Reads the version of the organization's policies. */
export function readPolicyVersion(tx: Transaction, organizationId: string): Rows<PolicyVersion> {
  return whenRead(policyVersion(tx, { organizationId }), ([row]) => ({
    id: row?.version ?? 'none',
    organizationId,
    isKept: row !== undefined && row.kept !== null,
  }))
}
