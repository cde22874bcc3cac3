import type { Transaction } from '../../store/index.ts'

/** Marks a wallet, an account or a private key as exported. */
export async function markExported(
  tx: Transaction,
  table: 'wallets' | 'wallet_accounts' | 'private_keys',
  organizationId: string,
  id: string,
  now: number,
): Promise<void> {
  await tx
    .updateTable(table)
    .set({ exported: 1, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute()
}
