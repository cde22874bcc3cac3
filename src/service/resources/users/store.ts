import { sql } from 'kysely'
import {
  createTable,
  prepare,
  type Rows,
  remember,
  storedList,
  type Transaction,
  type UserRow,
  whenRead,
} from '../../store/index.ts'

export const userTable = createTable('users')
export const userList = storedList('users', ['name', 'email'])

/** The changes of an update of a user; an absent member stays. */
export type UserChange = Partial<Pick<UserRow, 'name' | 'email' | 'phone_number'>>

/** Adds a user. */
export async function insertUser(tx: Transaction, user: UserRow): Promise<void> {
  await userTable.insert(tx, [user])
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
export function listUsers(
  tx: Transaction,
  organizationId: string,
  userIds?: readonly string[],
): Rows<readonly UserRow[]> {
  if (userIds?.length === 0) return []
  return userIds ? among(tx, { organizationId, userIds }) : all(tx, { organizationId })
}

const update = prepare(
  (
    tx,
    { organizationId, userId, ...columns }: UserChange & { organizationId: string; userId: string; updated_at: number },
  ) => tx.updateTable('users').set(columns).where('organization_id', '=', organizationId).where('id', '=', userId),
)

/** Whether a user of any organization has this id. */
export async function isUserIdTaken(tx: Transaction, userId: string): Promise<boolean> {
  const row = await tx.selectFrom('users').select('id').where('id', '=', userId).executeTakeFirst()
  return row !== undefined
}

/** Changes a user. */
export function updateUser(
  tx: Transaction,
  organizationId: string,
  userId: string,
  change: UserChange & { readonly now: number },
): Rows<void> {
  const { now, ...columns } = change
  return whenRead(update(tx, { organizationId, userId, ...columns, updated_at: now }), () => undefined)
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
  await userTable.delete(tx, organizationId, userIds)
}

/** A user in whose record a contact stands, and how it came there. */
export interface UserOfContact extends UserRow {
  /** 1: this user has proved it; 0: the parent has given it to them; null: it was only written down. */
  readonly isProved: number | null
}

/** A contact as one of a user's record, and as one that was proved. */
export interface NamedContact {
  readonly column: 'email' | 'phone_number'
  /** EMAIL or PHONE_NUMBER. */
  readonly type: string
  readonly contact: string
}

/**
 * Reads the users who have a contact, in one organization or in the sub-organizations of a parent, in the order of their
 * creation. Addresses are compared without regard to case.
 */
export async function findUsersByContact(
  tx: Transaction,
  of: NamedContact,
  within: { readonly organizationId: string } | { readonly parentId: string },
): Promise<UserOfContact[]> {
  const own = of.column === 'email' ? sql<string>`lower(users.email)` : sql<string>`users.phone_number`
  return tx
    .selectFrom('users')
    .innerJoin('organizations', 'organizations.id', 'users.organization_id')
    .selectAll('users')
    .select(
      sql<number | null>`(select proof.proved from verified_contacts as proof where proof.user_id = users.id
        and proof.type = ${of.type} and proof.contact = ${of.contact})`.as('isProved'),
    )
    .where(own, '=', of.contact)
    .where('organizations.deleted_at', 'is', null)
    .where(
      'organizationId' in within
        ? sql<boolean>`organizations.id = ${within.organizationId}`
        : sql<boolean>`organizations.parent_id = ${within.parentId}`,
    )
    .orderBy('users.position')
    .execute()
}

/**
 * Finds the users of sub-organizations to whom a contact leads that was shown to their parent: those who have proved it; where nobody
 * has, those to whom the parent has given it, unless it has to be proved. Oldest first.
 * INVARIANT: what was only written down, by whomever inside a sub-organization, leads nobody there: it would be a trap for the person
 * whose contact it is (docs/protocol/auth-proxy.md#whom-a-contact-leads-to).
 */
export async function findUsersLedTo(
  tx: Transaction,
  contact: NamedContact,
  { parentId, isProved }: { readonly parentId: string; readonly isProved: boolean },
): Promise<readonly UserOfContact[]> {
  const users = await findUsersByContact(tx, contact, { parentId })
  return provedFirst(users).filter((user) => user.isProved === 1 || (user.isProved === 0 && !isProved))
}

/** Those who have proved the contact, or all where nobody has. */
export function provedFirst(users: readonly UserOfContact[]): readonly UserOfContact[] {
  const proved = users.filter(({ isProved }) => isProved === 1)
  return proved.length > 0 ? proved : users
}
