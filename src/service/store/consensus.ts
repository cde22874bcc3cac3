import { remember } from './prepared.ts'
import type { Transaction } from './transaction.ts'

/** The properties of an approver that policies read. */
export interface ApproverFacts {
  readonly id: string
  readonly name: string
  readonly email: string | undefined
  readonly tagIds: readonly string[]
}

const approversAmong = remember((tx, of: { organizationId: string; userIds: readonly string[] }) =>
  tx
    .selectFrom('users')
    .leftJoin('tag_members', (join) =>
      join
        .onRef('tag_members.member_id', '=', 'users.id')
        .onRef('tag_members.organization_id', '=', 'users.organization_id'),
    )
    .select(['users.id', 'users.name', 'users.email', 'tag_members.tag_id'])
    .where('users.organization_id', '=', of.organizationId)
    .where('users.id', 'in', of.userIds)
    .orderBy('tag_members.tag_id'),
)
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

/** Reads the users of the organization among `userIds`, in that order; who is not there any more is left out. */
export async function listApprovers(
  tx: Transaction,
  organizationId: string,
  userIds: readonly string[],
): Promise<ApproverFacts[]> {
  if (userIds.length === 0) return []
  const rows = await approversAmong(tx, { organizationId, userIds })
  return userIds.flatMap((id) => {
    const own = rows.filter((row) => row.id === id)
    const [user] = own
    if (!user) return []
    const tagIds = own.flatMap(({ tag_id: tagId }) => (tagId === null ? [] : [tagId]))
    return [{ id, name: user.name, email: user.email ?? undefined, tagIds }]
  })
}

/** Reads who the root quorum is and how many of them it takes. */
export async function readRootQuorum(
  tx: Transaction,
  organizationId: string,
): Promise<{ userIds: string[]; threshold: number }> {
  const rows = await quorumOf(tx, { organizationId })
  const userIds = rows.flatMap(({ user_id: userId }) => (userId === null ? [] : [userId]))
  return { userIds, threshold: rows[0]!.quorum_threshold }
}

/** A version of an organization's policies: it differs whenever any of them does. */
export interface PolicyVersion {
  readonly id: string
  readonly organizationId: string
  /** Whether its set of policies is kept already, for `get_policy_evaluations`. */
  readonly isKept: boolean
}

/** Reads the version of the organization's policies. */
export async function readPolicyVersion(tx: Transaction, organizationId: string): Promise<PolicyVersion> {
  const [row] = await policyVersion(tx, { organizationId })
  return { id: row?.version ?? 'none', organizationId, isKept: row !== undefined && row.kept !== null }
}
