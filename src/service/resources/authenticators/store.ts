import { type AuthenticatorRow, createTable, listOfUsers, storedList, type Transaction } from '../../store/index.ts'

export const authenticatorTable = createTable('authenticators')
export const authenticatorList = storedList('authenticators', ['name', 'credential_id', 'public_key', 'transports'])

/** Adds a passkey. */
export async function insertAuthenticator(tx: Transaction, authenticator: AuthenticatorRow): Promise<void> {
  await authenticatorTable.insert(tx, [authenticator])
}

/** Reads the passkeys of the organization, all or those of `userIds`, in the order of their creation. */
export const listAuthenticators = listOfUsers('authenticators')

/** Reads the passkey with this credential id (base64url) in one organization. */
export async function findAuthenticatorByCredentialId(
  tx: Transaction,
  organizationId: string,
  credentialId: string,
): Promise<AuthenticatorRow | undefined> {
  return tx
    .selectFrom('authenticators')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('credential_id', '=', credentialId)
    .executeTakeFirst()
}

/** Reads the passkeys with this credential id in the sub-organizations of a parent: two at most. */
export async function findAuthenticatorsBelow(
  tx: Transaction,
  parentId: string,
  credentialId: string,
): Promise<AuthenticatorRow[]> {
  return tx
    .selectFrom('authenticators')
    .innerJoin('organizations', 'organizations.id', 'authenticators.organization_id')
    .selectAll('authenticators')
    .where('organizations.parent_id', '=', parentId)
    .where('authenticators.credential_id', '=', credentialId)
    .limit(2)
    .execute()
}

/** Keeps the counter that a passkey told last. */
export async function setSignCount(tx: Transaction, authenticator: AuthenticatorRow, signCount: number): Promise<void> {
  await tx
    .updateTable('authenticators')
    .set({ sign_count: signCount })
    .where('organization_id', '=', authenticator.organization_id)
    .where('id', '=', authenticator.id)
    .execute()
}
