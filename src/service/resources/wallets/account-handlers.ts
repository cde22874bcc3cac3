import { apiError, type Wire } from '../../../protocol/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requireWalletAccounts, requireWallets } from '../require.ts'
import { deleteWalletAccounts as deleteAccountRows, renameWalletAccount } from './accounts-store.ts'
import { addAccounts, checkAccounts, checkFreePaths } from './new-accounts.ts'
import { listWallets } from './store.ts'

const createWalletAccounts: TypedHandler<Wire.CreateWalletAccountsIntent, Wire.CreateWalletAccountsResult> = {
  async validate(context, { walletId, accounts, persist = true }) {
    await requireWallets(context, 'walletId', [walletId])
    checkAccounts(accounts)
    // What is only computed takes no place in the wallet.
    if (persist) await checkFreePaths(context, walletId, accounts)
  },
  async execute(context, { walletId, accounts, persist = true }) {
    return { addresses: await addAccounts(context, walletId, accounts, { persist }) }
  },
}

const updateWalletAccountName: TypedHandler<Wire.UpdateWalletAccountNameIntent, Wire.UpdateWalletAccountNameResult> = {
  async validate(context, { walletAccountId }) {
    await requireWalletAccounts(context, 'walletAccountId', [walletAccountId])
  },
  async execute({ tx, organizationId, now }, { walletAccountId, name }) {
    await renameWalletAccount(tx, organizationId, walletAccountId, { name, now })
    return { walletAccountId }
  },
}

/**
 * As for wallets: an account is exported alone or with its wallet, whose mnemonic leads to it
 * (docs/protocol/keys.md#deletion).
 */
const deleteWalletAccounts: TypedHandler<Wire.DeleteWalletAccountsIntent, Wire.DeleteWalletAccountsResult> = {
  async validate(context, { walletAccountIds, deleteWithoutExport = false }) {
    const accounts = await requireWalletAccounts(context, 'walletAccountIds', walletAccountIds)
    if (deleteWithoutExport) return
    const unexported = accounts.filter(({ exported }) => exported === 0)
    const walletIds = [...new Set(unexported.map((account) => account.wallet_id))]
    const wallets = await listWallets(context.tx, context.organizationId, walletIds)
    if (wallets.some(({ exported }) => exported === 0)) throw apiError('walletAccountNotExported')
  },
  async execute({ tx, organizationId }, { walletAccountIds }) {
    await deleteAccountRows(tx, organizationId, walletAccountIds)
    return { walletAccountIds }
  },
}

export const walletAccountHandlers = {
  ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS: createWalletAccounts,
  ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME: updateWalletAccountName,
  ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS: deleteWalletAccounts,
} satisfies HandlerRows
