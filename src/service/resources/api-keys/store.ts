import { type ApiKeyRow, insertInOrder, prepare, remember, type Transaction } from '../../store/index.ts'

/** Adds an API key. */
export async function insertApiKey(tx: Transaction, key: ApiKeyRow): Promise<void> {
  await insertInOrder(tx, 'api_keys', [key])
}

const all = prepare((tx, of: { organizationId: string }) =>
  tx.selectFrom('api_keys').selectAll().where('organization_id', '=', of.organizationId).orderBy('api_keys.position'),
)
const ofUsers = remember((tx, of: { organizationId: string; userIds: readonly string[] }) =>
  tx
    .selectFrom('api_keys')
    .selectAll()
    .where('organization_id', '=', of.organizationId)
    .where('user_id', 'in', of.userIds)
    .orderBy('api_keys.position'),
)

/** Reads the API keys of the organization, all or those of `userIds`, in the order of their creation. */
export async function listApiKeys(
  tx: Transaction,
  organizationId: string,
  userIds?: readonly string[],
): Promise<readonly ApiKeyRow[]> {
  if (userIds?.length === 0) return []
  return userIds ? ofUsers(tx, { organizationId, userIds }) : all(tx, { organizationId })
}

/** Reads one API key by its id. */
export async function findApiKey(
  tx: Transaction,
  organizationId: string,
  apiKeyId: string,
): Promise<ApiKeyRow | undefined> {
  return tx
    .selectFrom('api_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', apiKeyId)
    .executeTakeFirst()
}

/** Says which of these public keys (lower-case hex) the organization has already. */
export async function listTakenPublicKeys(
  tx: Transaction,
  organizationId: string,
  publicKeys: readonly string[],
): Promise<Set<string>> {
  if (publicKeys.length === 0) return new Set()
  const rows = await tx
    .selectFrom('api_keys')
    .select('public_key')
    .where('organization_id', '=', organizationId)
    .where('public_key', 'in', publicKeys)
    .execute()
  return new Set(rows.map((row) => row.public_key))
}

/** Deletes API keys. */
export async function deleteApiKeys(
  tx: Transaction,
  organizationId: string,
  apiKeyIds: readonly string[],
): Promise<void> {
  if (apiKeyIds.length === 0) return
  await tx.deleteFrom('api_keys').where('organization_id', '=', organizationId).where('id', 'in', apiKeyIds).execute()
}
