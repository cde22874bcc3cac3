import {
  type ApiKeyRow,
  createTable,
  prepare,
  type Rows,
  remember,
  storedList,
  type Transaction,
} from '../../store/index.ts'

export const apiKeyTable = createTable('api_keys')
export const apiKeyList = storedList('api_keys', ['name'])

/** Adds an API key. */
export async function insertApiKey(tx: Transaction, key: ApiKeyRow): Promise<void> {
  await apiKeyTable.insert(tx, [key])
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
export function listApiKeys(
  tx: Transaction,
  organizationId: string,
  userIds?: readonly string[],
): Rows<readonly ApiKeyRow[]> {
  if (userIds?.length === 0) return []
  return userIds ? ofUsers(tx, { organizationId, userIds }) : all(tx, { organizationId })
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
