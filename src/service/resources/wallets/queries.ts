import { normalizePath } from '../../../chain/index.ts'
import { apiError, readPagination } from '../../../protocol/index.ts'
import type { QueryContext } from '../../engine/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { listAccountsById, listAccountsOfWallet, listAccountsPage } from './accounts-store.ts'
import { listWallets, type WalletFacts } from './store.ts'
import { toWireWallet, toWireWalletAccount } from './wire.ts'

const getWallet: QueryOf<'get_wallet'> = async (context, { walletId }) => ({
  wallet: toWireWallet(await readWallet(context, walletId)),
})

const listAllWallets: QueryOf<'list_wallets'> = async ({ tx, organizationId }) => ({
  wallets: (await listWallets(tx, organizationId)).map(toWireWallet),
})

/** By address, by path, or by both; the oldest where several accounts share one (docs/protocol/keys.md#accounts). */
const getWalletAccount: QueryOf<'get_wallet_account'> = async (context, { walletId, address, path }) => {
  if (!address && !path) throw apiError('missingField', 'address')
  const wallet = await readWallet(context, walletId)
  const [account] = await listAccountsOfWallet(context.tx, context.organizationId, walletId, {
    ...(address ? { address } : {}),
    ...(path ? { paths: [normalizePath(path)] } : {}),
  })
  if (account) return { account: toWireWalletAccount(account, wallet) }
  throw address ? apiError('walletAccountNotFound', address) : apiError('notFound', 'wallet account', path!)
}

/**
 * Oldest first; `before` and `after` are ids of accounts (docs/protocol/requests.md#pages-and-filters). Unstated:
 * whether entries carry their wallet when nobody asked. They do unless that is declined: published clients read it
 * (docs/protocol/requests.md#pages-and-filters).
 */
const listWalletAccounts: QueryOf<'list_wallet_accounts'> = async (context, request) => {
  const { walletId, includeWalletDetails = true, paginationOptions } = request
  const { limit, before, after } = readPagination(paginationOptions)
  if (walletId) await readWallet(context, walletId)
  const accounts = await listAccountsPage(context.tx, context.organizationId, {
    limit,
    ...(walletId ? { walletId } : {}),
    ...(before === undefined ? {} : { before: await readCursor(context, before) }),
    ...(after === undefined ? {} : { after: await readCursor(context, after) }),
  })
  if (!includeWalletDetails) return { accounts: accounts.map((account) => toWireWalletAccount(account)) }
  const ids = [...new Set(accounts.map((account) => account.wallet_id))]
  const wallets = new Map((await listWallets(context.tx, context.organizationId, ids)).map((row) => [row.id, row]))
  return { accounts: accounts.map((account) => toWireWalletAccount(account, wallets.get(account.wallet_id))) }
}

export const walletQueries = {
  get_wallet: getWallet,
  list_wallets: listAllWallets,
  get_wallet_account: getWalletAccount,
  list_wallet_accounts: listWalletAccounts,
} satisfies QueryRows

async function readWallet({ tx, organizationId }: QueryContext, walletId: string): Promise<WalletFacts> {
  const [wallet] = await listWallets(tx, organizationId, [walletId])
  if (!wallet) throw apiError('notFound', 'wallet', walletId)
  return wallet
}

/** Unstated: an unknown cursor is refused (docs/protocol/requests.md#pages-and-filters). */
async function readCursor({ tx, organizationId }: QueryContext, accountId: string): Promise<number> {
  const [account] = await listAccountsById(tx, organizationId, [accountId])
  if (!account) throw apiError('unknownCursor', accountId)
  return account.position
}
