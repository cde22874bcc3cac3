import { type InOrder, insertInOrder, type Transaction } from '../../store/index.ts'

export interface WalletRow {
  id: string
  organization_id: string
  name: string
  /** The mnemonic, sealed under the master key for this very row. */
  sealed_mnemonic: Uint8Array
  exported: number
  imported: number
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    wallets: InOrder<WalletRow>
  }
}

/** A wallet without what is secret about it. */
export type WalletFacts = Omit<WalletRow, 'sealed_mnemonic'>

const FACTS = ['id', 'organization_id', 'name', 'exported', 'imported', 'created_at', 'updated_at'] as const

/** Adds a wallet. */
export async function insertWallet(tx: Transaction, wallet: WalletRow): Promise<void> {
  await insertInOrder(tx, 'wallets', [wallet])
}

/** Reads the wallets of the organization, all or those among `walletIds`, in the order of their creation. */
export async function listWallets(
  tx: Transaction,
  organizationId: string,
  walletIds?: readonly string[],
): Promise<WalletFacts[]> {
  if (walletIds?.length === 0) return []
  let query = tx.selectFrom('wallets').select(FACTS).where('organization_id', '=', organizationId)
  if (walletIds) query = query.where('id', 'in', walletIds)
  return query.orderBy('wallets.position').execute()
}

/** Reads a wallet's mnemonic, still sealed. */
export async function readSealedMnemonic(
  tx: Transaction,
  organizationId: string,
  walletId: string,
): Promise<Uint8Array> {
  const row = await tx
    .selectFrom('wallets')
    .select('sealed_mnemonic')
    .where('organization_id', '=', organizationId)
    .where('id', '=', walletId)
    .executeTakeFirstOrThrow()
  return row.sealed_mnemonic
}

/** Counts the wallets of the organization. */
export async function countWallets(tx: Transaction, organizationId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('wallets')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Gives a wallet another name. */
export async function renameWallet(
  tx: Transaction,
  organizationId: string,
  walletId: string,
  change: { readonly name: string; readonly now: number },
): Promise<void> {
  await tx
    .updateTable('wallets')
    .set({ name: change.name, updated_at: change.now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', walletId)
    .execute()
}

/** Deletes wallets, with their accounts. */
export async function deleteWallets(
  tx: Transaction,
  organizationId: string,
  walletIds: readonly string[],
): Promise<void> {
  await tx
    .deleteFrom('wallet_accounts')
    .where('organization_id', '=', organizationId)
    .where('wallet_id', 'in', walletIds)
    .execute()
  await tx.deleteFrom('wallets').where('organization_id', '=', organizationId).where('id', 'in', walletIds).execute()
}
