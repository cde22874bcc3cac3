import type { Transaction, WalletAccountKeyRow } from '../../store/index.ts'

/** SQLite takes 32,766 parameters a statement; a row has 3. */
const ROWS_A_STATEMENT = 5_000

/** Keeps the sealed keys of accounts. */
export async function insertAccountKeys(tx: Transaction, keys: readonly WalletAccountKeyRow[]): Promise<void> {
  for (let start = 0; start < keys.length; start += ROWS_A_STATEMENT) {
    await tx
      .insertInto('wallet_account_keys')
      .values(keys.slice(start, start + ROWS_A_STATEMENT))
      .execute()
  }
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
