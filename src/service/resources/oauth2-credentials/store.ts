import { type InOrder, insertInOrder, type Transaction } from '../../store/index.ts'

export interface Oauth2CredentialRow {
  id: string
  organization_id: string
  provider: string
  client_id: string
  /** As it was sent: sealed to the service's key by the client. */
  encrypted_client_secret: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    oauth2_credentials: InOrder<Oauth2CredentialRow>
  }
}

/** Adds an OAuth 2.0 credential. */
export async function insertOauth2Credential(tx: Transaction, row: Oauth2CredentialRow): Promise<void> {
  await insertInOrder(tx, 'oauth2_credentials', [row])
}

/** Reads the organization's OAuth 2.0 credentials, in the order of their creation. */
export async function listOauth2Credentials(tx: Transaction, organizationId: string): Promise<Oauth2CredentialRow[]> {
  return tx
    .selectFrom('oauth2_credentials')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('oauth2_credentials.position')
    .execute()
}

/** Reads one OAuth 2.0 credential. */
export async function findOauth2Credential(
  tx: Transaction,
  organizationId: string,
  credentialId: string,
): Promise<Oauth2CredentialRow | undefined> {
  return tx
    .selectFrom('oauth2_credentials')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', credentialId)
    .executeTakeFirst()
}

/** Replaces what an OAuth 2.0 credential says. */
export async function updateOauth2Credential(
  tx: Transaction,
  organizationId: string,
  credentialId: string,
  change: Pick<Oauth2CredentialRow, 'provider' | 'client_id' | 'encrypted_client_secret'> & { readonly now: number },
): Promise<void> {
  const { now, ...columns } = change
  await tx
    .updateTable('oauth2_credentials')
    .set({ ...columns, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', credentialId)
    .execute()
}

/** Deletes an OAuth 2.0 credential. */
export async function deleteOauth2Credential(
  tx: Transaction,
  organizationId: string,
  credentialId: string,
): Promise<void> {
  await tx
    .deleteFrom('oauth2_credentials')
    .where('organization_id', '=', organizationId)
    .where('id', '=', credentialId)
    .execute()
}
