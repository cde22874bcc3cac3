import { piecesOf, type Transaction } from '../../store/index.ts'

export interface WalletAccountRow {
  id: string
  organization_id: string
  wallet_id: string
  curve: string
  path_format: string
  path: string
  address_format: string
  address: string
  /** Hex; compressed for secp256k1 and P-256, 32 bytes for Ed25519. */
  public_key: string
  name: string | null
  /** 1 once the account alone was exported; its wallet has a mark of its own. */
  exported: number
  /** Creation order within the organization. */
  position: number
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    wallet_accounts: WalletAccountRow
  }
}

/** Adds accounts to a wallet, after all accounts that the organization has. */
export async function insertWalletAccounts(
  tx: Transaction,
  organizationId: string,
  accounts: readonly Omit<WalletAccountRow, 'organization_id' | 'position' | 'exported'>[],
): Promise<void> {
  if (accounts.length === 0) return
  const last = await tx
    .selectFrom('wallet_accounts')
    .select(({ fn }) => fn.max('position').as('position'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  const first = Number(last?.position ?? 0) + 1
  const rows = accounts.map((row, index) => ({
    ...row,
    organization_id: organizationId,
    exported: 0,
    position: first + index,
  }))
  for (const some of piecesOf(rows)) await tx.insertInto('wallet_accounts').values(some).execute()
}

/** Reads accounts by their ids, oldest first. */
export async function listAccountsById(
  tx: Transaction,
  organizationId: string,
  accountIds: readonly string[],
): Promise<WalletAccountRow[]> {
  if (accountIds.length === 0) return []
  return tx
    .selectFrom('wallet_accounts')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', 'in', accountIds)
    .orderBy('position')
    .execute()
}

/** Reads the accounts of a wallet that one of these paths leads to, or one of these addresses names, oldest first. */
export async function listAccountsOfWallet(
  tx: Transaction,
  organizationId: string,
  walletId: string,
  by: { readonly paths?: readonly string[]; readonly address?: string },
): Promise<WalletAccountRow[]> {
  if (by.paths?.length === 0) return []
  let query = tx
    .selectFrom('wallet_accounts')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('wallet_id', '=', walletId)
  if (by.paths) query = query.where('path', 'in', by.paths)
  if (by.address !== undefined) {
    // The case of an Ethereum-like address is a checksum, no part of it (EIP-55); elsewhere case counts.
    const { address } = by
    query = /^0x/i.test(address)
      ? query.where(({ fn }) => fn('lower', ['address']), '=', address.toLowerCase())
      : query.where('address', '=', address)
  }
  return query.orderBy('position').execute()
}

/** One page of accounts, oldest first: those created before or after the positions named. */
export interface AccountListing {
  readonly walletId?: string
  readonly before?: number
  readonly after?: number
  readonly limit: number
}

/** Reads a page of accounts. With `before` alone the page is the one next to it, still oldest first. */
export async function listAccountsPage(
  tx: Transaction,
  organizationId: string,
  listing: AccountListing,
): Promise<WalletAccountRow[]> {
  let query = tx.selectFrom('wallet_accounts').selectAll().where('organization_id', '=', organizationId)
  if (listing.walletId !== undefined) query = query.where('wallet_id', '=', listing.walletId)
  if (listing.before !== undefined) query = query.where('position', '<', listing.before)
  if (listing.after !== undefined) query = query.where('position', '>', listing.after)
  const backwards = listing.before !== undefined && listing.after === undefined
  const rows = await query
    .orderBy('position', backwards ? 'desc' : 'asc')
    .limit(listing.limit)
    .execute()
  return backwards ? rows.reverse() : rows
}

/** Gives an account another name. */
export async function renameWalletAccount(
  tx: Transaction,
  organizationId: string,
  accountId: string,
  change: { readonly name: string; readonly now: number },
): Promise<void> {
  await tx
    .updateTable('wallet_accounts')
    .set({ name: change.name, updated_at: change.now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', accountId)
    .execute()
}

/** Deletes accounts. */
export async function deleteWalletAccounts(
  tx: Transaction,
  organizationId: string,
  accountIds: readonly string[],
): Promise<void> {
  for (const some of piecesOf(accountIds))
    await tx
      .deleteFrom('wallet_accounts')
      .where('organization_id', '=', organizationId)
      .where('id', 'in', some)
      .execute()
}

/** Deletes the accounts of these wallets, or all of the organization, of which there may be any number. */
export async function deleteAccountsOf(
  tx: Transaction,
  organizationId: string,
  walletIds?: readonly string[],
): Promise<void> {
  let query = tx.selectFrom('wallet_accounts').select('id').where('organization_id', '=', organizationId)
  if (walletIds) query = query.where('wallet_id', 'in', walletIds)
  const accounts = await query.execute()
  await deleteWalletAccounts(
    tx,
    organizationId,
    accounts.map(({ id }) => id),
  )
}
