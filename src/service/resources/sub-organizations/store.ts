import { type RawBuilder, sql } from 'kysely'
import { type Schema, type Transaction, tablesOfOrganization } from '../../store/index.ts'
import type { OauthIdentity } from '../oauth-providers/store.ts'
import { deleteAccountsOf } from '../wallets/accounts-store.ts'

/** What a sub-organization may be looked for by: itself, or something that is in it. Matching is exact. */
export type SubOrganizationFilter =
  | { readonly by: Exclude<keyof typeof MATCHES, 'OIDC'>; readonly value: string }
  | { readonly by: 'OIDC'; readonly value: OauthIdentity }

/** One page, newest first: those created before or after the sub-organizations named. */
export interface SubOrganizationListing {
  readonly filter?: SubOrganizationFilter
  /** Ids of sub-organizations of the same parent. */
  readonly before?: string
  readonly after?: string
  readonly limit: number
}

/** The organization has a row of a table for which this holds; read from the rows' own index, which finds few. */
function holds(table: keyof Schema, condition: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`organizations.id in (select organization_id from ${sql.table(table)} where ${condition})`
}

/** E-mail addresses are compared without regard to case, all else exactly (docs/protocol/requests.md#pages-and-filters). */
const MATCHES = {
  NAME: (name: string) => sql<boolean>`organizations.name = ${name}`,
  USERNAME: (name: string) => holds('users', sql`users.name = ${name}`),
  EMAIL: (email: string) => holds('users', sql`lower(users.email) = ${email.toLowerCase()}`),
  PHONE_NUMBER: (number: string) => holds('users', sql`users.phone_number = ${number}`),
  CREDENTIAL_ID: (id: string) => holds('authenticators', sql`authenticators.credential_id = ${id}`),
  PUBLIC_KEY: (key: string) => holds('api_keys', sql`api_keys.public_key = ${key.toLowerCase()}`),
  WALLET_ACCOUNT_ADDRESS: (address: string) => holds('wallet_accounts', sql`wallet_accounts.address = ${address}`),
  OIDC: ({ issuer, audience, subject }: OauthIdentity) =>
    holds('oauth_providers', sql`issuer = ${issuer} and audience = ${audience} and subject = ${subject}`),
  VERIFIED: (_: string) =>
    holds(
      'users',
      sql`(${isProved('EMAIL', sql`lower(users.email)`)} or ${isProved('PHONE_NUMBER', sql`users.phone_number`)})`,
    ),
  VERIFIED_EMAIL: (email: string) =>
    holds('users', sql`lower(users.email) = ${email.toLowerCase()} and ${isProved('EMAIL', sql`lower(users.email)`)}`),
  VERIFIED_PHONE_NUMBER: (number: string) =>
    holds('users', sql`users.phone_number = ${number} and ${isProved('PHONE_NUMBER', sql`users.phone_number`)}`),
} as const

/** A proof counts for the contact that it was given for, and not for one that the user has taken since. */
function isProved(type: string, contact: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (select 1 from verified_contacts as proof
    where proof.user_id = users.id and proof.type = ${type} and proof.contact = ${contact}
      and proof.proved = 1)`
}

/** Lists the ids of a parent's sub-organizations, newest first (docs/protocol/requests.md#pages-and-filters). */
export async function listSubOrganizationIds(
  tx: Transaction,
  parentId: string,
  { filter, before, after, limit }: SubOrganizationListing,
): Promise<string[]> {
  const placeOf = (id: string) =>
    sql<number>`(select place.position from organizations as place where place.id = ${id})`
  let query = tx
    .selectFrom('organizations')
    .select('id')
    .where('parent_id', '=', parentId)
    .where('deleted_at', 'is', null)
  if (filter) query = query.where(matches(filter))
  if (before !== undefined) query = query.where(sql<boolean>`organizations.position < ${placeOf(before)}`)
  if (after !== undefined) query = query.where(sql<boolean>`organizations.position > ${placeOf(after)}`)
  const towardsNewer = after !== undefined
  const rows = await query
    .orderBy('position', towardsNewer ? 'asc' : 'desc')
    .limit(limit)
    .execute()
  const ids = rows.map(({ id }) => id)
  return towardsNewer ? ids.reverse() : ids
}

function matches(filter: SubOrganizationFilter): RawBuilder<boolean> {
  return filter.by === 'OIDC' ? MATCHES.OIDC(filter.value) : MATCHES[filter.by](filter.value)
}

/** Deletes an organization with everything in it; its row and its activities stay for audit, under a mark. */
export async function deleteOrganization(tx: Transaction, organizationId: string, now: number): Promise<void> {
  await deleteAccountsOf(tx, organizationId)
  for (const table of tablesOfOrganization) {
    await tx.deleteFrom(table).where('organization_id', '=', organizationId).execute()
  }
  await tx
    .updateTable('organizations')
    .set({ deleted_at: now, updated_at: now })
    .where('id', '=', organizationId)
    .execute()
}
