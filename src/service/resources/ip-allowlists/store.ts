import { first, type Rows, remember, type Transaction, whenRead } from '../../store/index.ts'

/** The list that a parent organization judges the source of requests by. */
export interface IpAllowlistRow {
  organization_id: string
  enabled: number
  /** ALLOW, DENY, or null when nobody has said. */
  on_evaluation_error: string | null
  /** JSON of `[{cidr, label?, createdAt}]`, the blocks in their normal form. */
  rules: string
}

/** The list of one API key, which goes with the key. */
export interface ApiKeyIpAllowlistRow {
  organization_id: string
  /** Lower-case hex, as `api_keys` has it. */
  public_key: string
  on_evaluation_error: string | null
  rules: string
}

declare module '../../store/schema.ts' {
  interface Schema {
    ip_allowlists: IpAllowlistRow
    api_key_ip_allowlists: ApiKeyIpAllowlistRow
  }
}

const ownList = remember((tx, of: { organizationId: string }) =>
  tx.selectFrom('ip_allowlists').selectAll().where('organization_id', '=', of.organizationId),
)

/** Reads the organization's own list. */
export function findIpAllowlist(tx: Transaction, organizationId: string): Rows<IpAllowlistRow | undefined> {
  return whenRead(ownList(tx, { organizationId }), first)
}

/** Reads the list of one API key (lower-case hex). */
export async function findApiKeyIpAllowlist(
  tx: Transaction,
  organizationId: string,
  publicKey: string,
): Promise<ApiKeyIpAllowlistRow | undefined> {
  return tx
    .selectFrom('api_key_ip_allowlists')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('public_key', '=', publicKey)
    .executeTakeFirst()
}

/** Puts the organization's list into the place of the one that it had. */
export async function replaceIpAllowlist(tx: Transaction, list: IpAllowlistRow): Promise<void> {
  await deleteIpAllowlist(tx, list.organization_id)
  await tx.insertInto('ip_allowlists').values(list).execute()
}

/** Puts an API key's list into the place of the one that it had. */
export async function replaceApiKeyIpAllowlist(tx: Transaction, list: ApiKeyIpAllowlistRow): Promise<void> {
  await deleteApiKeyIpAllowlist(tx, list.organization_id, list.public_key)
  await tx.insertInto('api_key_ip_allowlists').values(list).execute()
}

/** Deletes the organization's own list. */
export async function deleteIpAllowlist(tx: Transaction, organizationId: string): Promise<void> {
  await tx.deleteFrom('ip_allowlists').where('organization_id', '=', organizationId).execute()
}

/** Deletes the list of one API key. */
export async function deleteApiKeyIpAllowlist(
  tx: Transaction,
  organizationId: string,
  publicKey: string,
): Promise<void> {
  await tx
    .deleteFrom('api_key_ip_allowlists')
    .where('organization_id', '=', organizationId)
    .where('public_key', '=', publicKey)
    .execute()
}
