import { type ApiKeyRow, createTable, listOfUsers, storedList, type Transaction } from '../../store/index.ts'

export const apiKeyTable = createTable('api_keys')
export const apiKeyList = storedList('api_keys', ['name'])

/** Adds an API key. */
export async function insertApiKey(tx: Transaction, key: ApiKeyRow): Promise<void> {
  await apiKeyTable.insert(tx, [key])
}

/** Reads the API keys of the organization, all or those of `userIds`, in the order of their creation. */
export const listApiKeys = listOfUsers('api_keys')

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
