import { createTable, listOfUsers, type OauthProviderRow, storedList, type Transaction } from '../../store/index.ts'

export const oauthProviderTable = createTable('oauth_providers')
export const oauthProviderList = storedList('oauth_providers', ['name', 'issuer', 'audience', 'subject'])

/** An identity at an OIDC issuer. */
export type OauthIdentity = Pick<OauthProviderRow, 'issuer' | 'audience' | 'subject'>

/** Adds an OAuth provider to a user. */
export async function insertOauthProvider(tx: Transaction, provider: OauthProviderRow): Promise<void> {
  await oauthProviderTable.insert(tx, [provider])
}

/** Reads the OAuth providers of the organization, all or those of `userIds`, in the order of their creation. */
export const listOauthProviders = listOfUsers('oauth_providers')

/** Says whether a user of the organization is registered under this identity. */
export async function isOauthIdentityTaken(
  tx: Transaction,
  organizationId: string,
  { issuer, audience, subject }: OauthIdentity,
): Promise<boolean> {
  const row = await tx
    .selectFrom('oauth_providers')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('issuer', '=', issuer)
    .where('audience', '=', audience)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row !== undefined
}

/** Reads the registrations of an identity, whichever of its audiences they are for. */
export async function findOauthIdentities(
  tx: Transaction,
  organizationId: string,
  { issuer, audiences, subject }: Pick<OauthIdentity, 'issuer' | 'subject'> & { readonly audiences: readonly string[] },
): Promise<readonly OauthProviderRow[]> {
  return tx
    .selectFrom('oauth_providers')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('audience', 'in', audiences)
    .execute()
}

/** Says whether anybody is registered under this identity, in whatever organization. */
export async function isOauthIdentityKnown(tx: Transaction, identity: TokenIdentity): Promise<boolean> {
  return (await matching(tx, identity).select('id').executeTakeFirst()) !== undefined
}

/** Reads the provider of the organization that a token names by any of its audiences. */
export async function findOauthProvider(
  tx: Transaction,
  organizationId: string,
  identity: TokenIdentity,
): Promise<OauthProviderRow | undefined> {
  return matching(tx, identity).selectAll().where('organization_id', '=', organizationId).executeTakeFirst()
}

/** Reads the providers that a token names in the sub-organizations of a parent: two at most, since two are too many. */
export async function findOauthProvidersBelow(
  tx: Transaction,
  parentId: string,
  identity: TokenIdentity,
): Promise<OauthProviderRow[]> {
  return matching(tx, identity)
    .selectAll()
    .where(({ eb, selectFrom }) =>
      eb(
        'organization_id',
        'in',
        selectFrom('organizations').select('organizations.id').where('parent_id', '=', parentId),
      ),
    )
    .limit(2)
    .execute()
}

type TokenIdentity = Pick<OauthIdentity, 'issuer' | 'subject'> & { readonly audiences: readonly string[] }

function matching(tx: Transaction, { issuer, audiences, subject }: TokenIdentity) {
  return tx
    .selectFrom('oauth_providers')
    .where('issuer', '=', issuer)
    .where('audience', 'in', audiences)
    .where('subject', '=', subject)
}
