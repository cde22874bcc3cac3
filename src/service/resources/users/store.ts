import { insertInOrder, prepare, remember, type Transaction, type UserRow } from '../../store/index.ts'

/** The changes of an update of a user; an absent member stays. */
export type UserChange = Partial<Pick<UserRow, 'name' | 'email' | 'phone_number'>>

/** Adds a user. */
export async function insertUser(tx: Transaction, user: UserRow): Promise<void> {
  await insertInOrder(tx, 'users', [user])
}

const all = prepare((tx, of: { organizationId: string }) =>
  tx.selectFrom('users').selectAll().where('organization_id', '=', of.organizationId).orderBy('users.position'),
)
const among = remember((tx, of: { organizationId: string; userIds: readonly string[] }) =>
  tx
    .selectFrom('users')
    .selectAll()
    .where('organization_id', '=', of.organizationId)
    .where('id', 'in', of.userIds)
    .orderBy('users.position'),
)

/** Reads the users of the organization, all or those among `userIds`, in the order of their creation. */
export async function listUsers(
  tx: Transaction,
  organizationId: string,
  userIds?: readonly string[],
): Promise<readonly UserRow[]> {
  if (userIds?.length === 0) return []
  return userIds ? among(tx, { organizationId, userIds }) : all(tx, { organizationId })
}

/** Counts the users of the organization. */
export async function countUsers(tx: Transaction, organizationId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

const update = prepare(
  (
    tx,
    { organizationId, userId, ...columns }: UserChange & { organizationId: string; userId: string; updated_at: number },
  ) => tx.updateTable('users').set(columns).where('organization_id', '=', organizationId).where('id', '=', userId),
)

/** Changes a user. */
export async function updateUser(
  tx: Transaction,
  organizationId: string,
  userId: string,
  change: UserChange & { readonly now: number },
): Promise<void> {
  const { now, ...columns } = change
  await update(tx, { organizationId, userId, ...columns, updated_at: now })
}

/** Deletes users, with their keys and their memberships of tags. Members of the root quorum cannot be deleted. */
export async function deleteUsers(tx: Transaction, organizationId: string, userIds: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('tag_members')
    .where('organization_id', '=', organizationId)
    .where('member_id', 'in', userIds)
    .execute()
  await tx
    .deleteFrom('api_keys')
    .where('organization_id', '=', organizationId)
    .where('user_id', 'in', userIds)
    .execute()
  await tx.deleteFrom('users').where('organization_id', '=', organizationId).where('id', 'in', userIds).execute()
}

/** Reads the users of the organization who have this e-mail address, in any case. */
export async function listUsersByEmail(tx: Transaction, organizationId: string, email: string): Promise<UserRow[]> {
  return tx
    .selectFrom('users')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where(({ eb, fn }) => eb(fn<string>('lower', ['email']), '=', email.toLowerCase()))
    .orderBy('users.position')
    .execute()
}
