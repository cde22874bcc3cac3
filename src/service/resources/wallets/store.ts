import { createTable, type InOrder, storedList, type Transaction } from '../../store/index.ts'
import { deleteAccountsOf } from './accounts-store.ts'

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

export const walletTable = createTable('wallets')
export const walletList = storedList('wallets', ['name'])

/** A wallet without what is secret about it. */
export type WalletFacts = Omit<WalletRow, 'sealed_mnemonic'>

const FACTS = ['id', 'organization_id', 'name', 'exported', 'imported', 'created_at', 'updated_at'] as const

/** Adds a wallet. */
export async function insertWallet(tx: Transaction, wallet: WalletRow): Promise<void> {
  await walletTable.insert(tx, [wallet])
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

/** Gives a wallet another name. */
export async function renameWallet(
  tx: Transaction,
  organizationId: string,
  walletId: string,
  change: { readonly name: string; readonly now: number },
): Promise<void> {
  await walletTable.update(tx, organizationId, walletId, change)
}

/** Deletes wallets, with their accounts. */
export async function deleteWallets(
  tx: Transaction,
  organizationId: string,
  walletIds: readonly string[],
): Promise<void> {
  await deleteAccountsOf(tx, organizationId, walletIds)
  await walletTable.delete(tx, organizationId, walletIds)
}
