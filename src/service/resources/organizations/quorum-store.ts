import type { Transaction } from '../../store/index.ts'

/** Replaces the root quorum: its members, who must be users already, and how many of them it takes. */
export async function setQuorum(
  tx: Transaction,
  organizationId: string,
  quorum: { readonly userIds: readonly string[]; readonly threshold: number; readonly now: number },
): Promise<void> {
  await tx.deleteFrom('quorum_members').where('organization_id', '=', organizationId).execute()
  const members = quorum.userIds.map((id, position) => ({ organization_id: organizationId, user_id: id, position }))
  if (members.length > 0) await tx.insertInto('quorum_members').values(members).execute()
  await tx
    .updateTable('organizations')
    .set({ quorum_threshold: quorum.threshold, updated_at: quorum.now })
    .where('id', '=', organizationId)
    .execute()
}
