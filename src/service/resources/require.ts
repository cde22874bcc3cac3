import { apiError } from '../../protocol/index.ts'
import type { HandlerContext } from '../engine/index.ts'
import { mentionedTwice } from '../readings.ts'
import { type Rows, type UserRow, whenRead } from '../store/index.ts'
import { type PolicyRow, policyTable } from './policies/store.ts'
import { listPrivateKeys, type PrivateKeyFacts } from './private-keys/store.ts'
import { findSecrets, type SecretFacts } from './secrets/store.ts'
import { listTags, type TagRow } from './tags/store.ts'
import { listUsers } from './users/store.ts'
import { listAccountsById, type WalletAccountRow } from './wallets/accounts-store.ts'
import { listWallets, type WalletFacts } from './wallets/store.ts'

/** Throws the refusal of a list that mentions a value twice. */
export function requireDistinct(field: string, values: readonly string[]): void {
  const seen = new Set<string>()
  for (const value of values) {
    if (seen.has(value)) throw mentionedTwice(field, value)
    seen.add(value)
  }
}

/** Reads these users, or throws the API's text for the first that the organization does not have. */
export function requireUsers(context: HandlerContext, field: string, ids: readonly string[]): Rows<UserRow[]> {
  requireDistinct(field, ids)
  const { tx, organizationId } = context
  const missing = (id: string) => apiError('userNotFound', id, organizationId)
  return whenRead(listUsers(tx, organizationId, ids), (users) => inOrder(ids, users, missing))
}

/** Reads one user, or throws the API's text. */
export function requireUser(context: HandlerContext, id: string): Rows<UserRow> {
  return whenRead(requireUsers(context, 'userId', [id]), ([user]) => user!)
}

/** Reads these user tags, or throws for the first that is not there; a tag of private keys is not. */
export async function requireUserTags(
  context: HandlerContext,
  field: string,
  ids: readonly string[],
): Promise<TagRow[]> {
  requireDistinct(field, ids)
  const tags = await listTags(context.tx, context.organizationId, 'TAG_TYPE_USER')
  return inOrder(ids, tags, (id) => apiError('notFound', 'user tag', id))
}

/** Reads these tags of private keys, or throws for the first that is not there; a tag of users is not. */
export async function requirePrivateKeyTags(
  context: HandlerContext,
  field: string,
  ids: readonly string[],
): Promise<TagRow[]> {
  requireDistinct(field, ids)
  const tags = await listTags(context.tx, context.organizationId, 'TAG_TYPE_PRIVATE_KEY')
  return inOrder(ids, tags, (id) => apiError('notFound', 'private key tag', id))
}

/** Reads these private keys, or throws for the first that is not there. */
export async function requirePrivateKeys(
  context: HandlerContext,
  field: string,
  ids: readonly string[],
): Promise<PrivateKeyFacts[]> {
  requireDistinct(field, ids)
  const keys = await listPrivateKeys(context.tx, context.organizationId, ids)
  return inOrder(ids, keys, (id) => apiError('notFound', 'private key', id))
}

/** Reads one policy, or throws. */
export async function requirePolicy(context: HandlerContext, id: string): Promise<PolicyRow> {
  const policy = await policyTable.find(context.tx, context.organizationId, id)
  if (!policy) throw apiError('notFound', 'policy', id)
  return policy
}

/** Reads these wallets, or throws for the first that is not there. */
export async function requireWallets(
  context: HandlerContext,
  field: string,
  ids: readonly string[],
): Promise<WalletFacts[]> {
  requireDistinct(field, ids)
  const wallets = await listWallets(context.tx, context.organizationId, ids)
  return inOrder(ids, wallets, (id) => apiError('notFound', 'wallet', id))
}

/** Reads what is told of these secrets, or throws for the first that is not there. */
export async function requireSecrets(
  context: HandlerContext,
  field: string,
  ids: readonly string[],
): Promise<SecretFacts[]> {
  requireDistinct(field, ids)
  const secrets = await findSecrets(context.tx, context.organizationId, ids)
  return inOrder(ids, secrets, (id) => apiError('notFound', 'secret', id))
}

/** Reads these wallet accounts, or throws the API's text for one that the organization does not have. */
export async function requireWalletAccounts(
  context: HandlerContext,
  field: string,
  ids: readonly string[],
): Promise<WalletAccountRow[]> {
  requireDistinct(field, ids)
  const accounts = await listAccountsById(context.tx, context.organizationId, ids)
  return inOrder(ids, accounts, () => apiError('walletAccountElsewhere'))
}

function inOrder<Row extends { id: string }>(
  ids: readonly string[],
  rows: readonly Row[],
  missing: (id: string) => Error,
): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => {
    const row = byId.get(id)
    if (!row) throw missing(id)
    return row
  })
}
