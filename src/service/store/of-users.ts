import { prepare, type Rows, remember } from './prepared.ts'
import type { Schema } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** Tables of what lets users in: each row belongs to one user. */
type TableOfUsers = 'api_keys' | 'authenticators' | 'oauth_providers'

/** Reads rows of the organization, all or those of `userIds`, in the order of their creation. */
export type ListOfUsers<Name extends TableOfUsers> = (
  tx: Transaction,
  organizationId: string,
  userIds?: readonly string[],
) => Rows<readonly Schema[Name][]>

/** Makes the statements that list a table by its users. */
export function listOfUsers<Name extends TableOfUsers>(name: Name): ListOfUsers<Name> {
  // One table stands for all of them, since each has an organization, a user and a place.
  const table = name as 'api_keys'
  const all = prepare((tx, of: { organizationId: string }) =>
    tx.selectFrom(table).selectAll().where('organization_id', '=', of.organizationId).orderBy('position'),
  )
  const ofUsers = remember((tx, of: { organizationId: string; userIds: readonly string[] }) =>
    tx
      .selectFrom(table)
      .selectAll()
      .where('organization_id', '=', of.organizationId)
      .where('user_id', 'in', of.userIds)
      .orderBy('position'),
  )
  const list: ListOfUsers<'api_keys'> = (tx, organizationId, userIds) => {
    if (userIds?.length === 0) return []
    return userIds ? ofUsers(tx, { organizationId, userIds }) : all(tx, { organizationId })
  }
  return list as unknown as ListOfUsers<Name>
}
