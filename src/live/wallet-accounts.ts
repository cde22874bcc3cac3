import type { QueryClient, RequestOptions } from '../client/index.ts'
import type { WireRecord } from '../resources/index.ts'
import { PAGE_LIMIT, readPages } from './pages.ts'

/** Reads the accounts of a wallet page by page, as the API has them. */
export function readWalletAccounts(
  client: QueryClient,
  walletId: string,
  options: RequestOptions = {},
): AsyncGenerator<readonly WireRecord[]> {
  return readPages({
    query: 'list_wallet_accounts',
    list: 'accounts',
    id: 'walletAccountId',
    // Accounts come in the order of their creation, so the next page is what came after the last one read.
    ask: (after) =>
      client.query(
        'list_wallet_accounts',
        { walletId, paginationOptions: { limit: String(PAGE_LIMIT), ...(after === undefined ? {} : { after }) } },
        options,
      ),
  })
}
