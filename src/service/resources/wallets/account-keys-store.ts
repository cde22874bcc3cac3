import { piecesOf, type Transaction } from '../../store/index.ts'

/** The key of an account, so that nobody need open its wallet's words to sign. */
export interface WalletAccountKeyRow {
  account_id: string
  organization_id: string
  /** 32 bytes, sealed under the master key for this very row. */
  sealed_private_key: Uint8Array
}

declare module '../../store/schema.ts' {
  interface Schema {
    wallet_account_keys: WalletAccountKeyRow
  }
}

/** Keeps the sealed keys of accounts. */
export async function insertAccountKeys(tx: Transaction, keys: readonly WalletAccountKeyRow[]): Promise<void> {
  for (const some of piecesOf(keys)) await tx.insertInto('wallet_account_keys').values(some).execute()
}

/** Reads the key of an account, still sealed, if it was ever kept by itself. */
export async function findSealedAccountKey(
  tx: Transaction,
  organizationId: string,
  accountId: string,
): Promise<Uint8Array | undefined> {
  const row = await tx
    .selectFrom('wallet_account_keys')
    .select('sealed_private_key')
    .where('organization_id', '=', organizationId)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row?.sealed_private_key
}
