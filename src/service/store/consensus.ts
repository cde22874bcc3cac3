import { prepare } from './prepared.ts'
import type { Transaction } from './transaction.ts'

/** What policies may ask about a user who approves. */
export interface ApproverFacts {
  readonly id: string
  readonly name: string
  readonly email: string | undefined
  readonly tagIds: readonly string[]
}

const usersAmong = prepare((tx, of: { organizationId: string; userIds: readonly string[] }) =>
  tx
    .selectFrom('users')
    .select(['id', 'name', 'email'])
    .where('organization_id', '=', of.organizationId)
    .where('id', 'in', of.userIds),
)
const tagsOf = prepare((tx, of: { organizationId: string; userIds: readonly string[] }) =>
  tx
    .selectFrom('tag_members')
    .select(['tag_id', 'member_id'])
    .where('organization_id', '=', of.organizationId)
    .where('member_id', 'in', of.userIds)
    .orderBy('tag_id'),
)
const threshold = prepare((tx, of: { organizationId: string }) =>
  tx.selectFrom('organizations').select('quorum_threshold').where('id', '=', of.organizationId),
)
const quorumMembers = prepare((tx, of: { organizationId: string }) =>
  tx
    .selectFrom('quorum_members')
    .select('user_id')
    .where('organization_id', '=', of.organizationId)
    .orderBy('position'),
)
const policyVersion = prepare((tx, of: { organizationId: string }) =>
  tx.selectFrom('policy_versions').select('version').where('organization_id', '=', of.organizationId),
)

/** Reads the users of the organization among `userIds`, in that order; who is not there any more is left out. */
export async function listApprovers(
  tx: Transaction,
  organizationId: string,
  userIds: readonly string[],
): Promise<ApproverFacts[]> {
  if (userIds.length === 0) return []
  const users = await usersAmong(tx, { organizationId, userIds })
  const tags = await tagsOf(tx, { organizationId, userIds })
  return userIds.flatMap((id) => {
    const user = users.find((row) => row.id === id)
    if (!user) return []
    const tagIds = tags.filter((row) => row.member_id === id).map((row) => row.tag_id)
    return [{ id, name: user.name, email: user.email ?? undefined, tagIds }]
  })
}

/** Reads who the root quorum is and how many of them it takes. */
export async function readRootQuorum(
  tx: Transaction,
  organizationId: string,
): Promise<{ userIds: string[]; threshold: number }> {
  const [organization] = await threshold(tx, { organizationId })
  const members = await quorumMembers(tx, { organizationId })
  return { userIds: members.map((row) => row.user_id), threshold: organization!.quorum_threshold }
}

/** Reads the version of the organization's policies: it differs whenever any of them does. */
export async function readPolicyVersion(tx: Transaction, organizationId: string): Promise<string> {
  const [row] = await policyVersion(tx, { organizationId })
  return row?.version ?? 'none'
}
