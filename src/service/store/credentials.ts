import { lockedMemoryOf } from './locked-memory.ts'
import { LockingAdapter } from './postgres-pool.ts'
import { first, prepare, type Rows, remember, whenRead } from './prepared.ts'
import type { ApiKeyRow } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** The place of an organization in its tree. */
export interface OrganizationPlace {
  readonly id: string
  readonly parentId: string | undefined
}

const placeOf = remember((tx, of: { organizationId: string }) =>
  tx
    .selectFrom('organizations')
    .select(['id', 'parent_id'])
    .where('id', '=', of.organizationId)
    .where('deleted_at', 'is', null),
)
const keyByPublicKey = remember((tx, of: { organizationId: string; publicKey: string }) =>
  tx
    .selectFrom('api_keys')
    .selectAll()
    .where('organization_id', '=', of.organizationId)
    .where('public_key', '=', of.publicKey),
)

const lockedPlaceOf = prepare((tx, of: { organizationId: string }) =>
  tx
    .selectFrom('organizations')
    .select(['id', 'parent_id'])
    .where('id', '=', of.organizationId)
    .where('deleted_at', 'is', null)
    // References to the row, which others may write meanwhile, do not wait for it.
    .forNoKeyUpdate(),
)

/**
 * Takes the organization's row before anything else is read or written. INVARIANT: every write goes through here
 * first, so that the writes of one organization follow one another. In SQLite the round's BEGIN IMMEDIATE already
 * keeps all others out and reading is enough; nothing is locked where nothing can be written.
 */
export function lockOrganization(tx: Transaction, organizationId: string): Rows<OrganizationPlace | undefined> {
  const memory = lockedMemoryOf(tx)
  const isTaken = memory?.holds(organizationId) || !(tx.getExecutor().adapter instanceof LockingAdapter)
  const rows: Rows<readonly { readonly id: string; readonly parent_id: string | null }[]> = (
    isTaken ? placeOf : lockedPlaceOf
  )(tx, { organizationId })
  return whenRead(rows, ([row]) => {
    if (row === undefined) return undefined
    memory?.hold(organizationId)
    return { id: row.id, parentId: row.parent_id ?? undefined }
  })
}

/** Takes the row of one more organization. Says whether that could mean to wait: not where nobody else writes. */
export async function lockAlso(tx: Transaction, organizationId: string): Promise<boolean> {
  if (!(tx.getExecutor().adapter instanceof LockingAdapter)) return false
  await lockOrganization(tx, organizationId)
  return true
}

/** Reads the API key with this public key (lower-case hex) in one organization. */
export function findApiKeyByPublicKey(
  tx: Transaction,
  organizationId: string,
  publicKey: string,
): Rows<ApiKeyRow | undefined> {
  return whenRead(keyByPublicKey(tx, { organizationId, publicKey }), first)
}

/** Reads the API keys with this public key in the sub-organizations of a parent: two at most, since two are too many. */
export async function findApiKeysBelow(tx: Transaction, parentId: string, publicKey: string): Promise<ApiKeyRow[]> {
  return tx
    .selectFrom('api_keys')
    .innerJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .selectAll('api_keys')
    .where('organizations.parent_id', '=', parentId)
    .where('api_keys.public_key', '=', publicKey)
    .limit(2)
    .execute()
}

/** Says which of these credentials still stand in the organization. */
export async function listStandingCredentials(
  tx: Transaction,
  organizationId: string,
  credentialIds: readonly string[],
): Promise<Set<string>> {
  if (credentialIds.length === 0) return new Set()
  const rows = await tx
    .selectFrom('api_keys')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', credentialIds)
    .union(
      tx
        .selectFrom('oauth_providers')
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('id', 'in', credentialIds),
    )
    .union(
      tx
        .selectFrom('authenticators')
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('id', 'in', credentialIds),
    )
    .execute()
  return new Set(rows.map((row) => row.id))
}
