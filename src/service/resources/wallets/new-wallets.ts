import { encodeUtf8 } from '../../../encoding/index.ts'
import type { Wire } from '../../../protocol/index.ts'
import type { ExecutionContext, HandlerContext } from '../../engine/index.ts'
import { mnemonicPlace } from '../../keys/index.ts'
import { checkLimit } from '../limits.ts'
import { addAccounts, checkAccounts } from './new-accounts.ts'
import { insertWallet, walletTable } from './store.ts'
import { walletIdOf } from './wallet-id.ts'

/** Throws the refusal of accounts that cannot be derived, and of one wallet too many. */
export async function checkNewWallet(
  context: HandlerContext,
  accounts: readonly Wire.WalletAccountParams[],
): Promise<void> {
  checkAccounts(accounts)
  const present = await walletTable.count(context.tx, context.organizationId)
  await checkLimit(context, 'wallets', { present, added: 1 })
}

/** Seals the words and keeps them as a wallet with its first accounts. */
export async function addWallet(
  context: ExecutionContext,
  wallet: {
    readonly walletName: string
    /** In its normal form. */
    readonly mnemonic: string
    readonly accounts: readonly Wire.WalletAccountParams[]
    readonly imported: boolean
  },
): Promise<{ walletId: string; addresses: string[] }> {
  const { tx, organizationId, now } = context
  const id = walletIdOf(organizationId, wallet.mnemonic)
  await insertWallet(tx, {
    id,
    organization_id: organizationId,
    name: wallet.walletName,
    sealed_mnemonic: context.seal(encodeUtf8(wallet.mnemonic), mnemonicPlace(id)),
    exported: 0,
    imported: wallet.imported ? 1 : 0,
    created_at: now,
    updated_at: now,
  })
  return { walletId: id, addresses: await addAccounts(context, id, wallet.accounts, { persist: true }) }
}
