import { apiError, readPagination, type Wire } from '../../../protocol/index.ts'
import { askChain, currencyOf } from '../../chains/index.ts'
import type { QueryContext } from '../../engine/index.ts'
import { readEthereumHistory, readSolanaHistory, type SentTransaction } from '../../history/index.ts'
import { findActivityById } from '../../store/index.ts'
import { findGasUsage } from '../gas-usage/store.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { findSend, listIncludedSends, type SendRow } from '../sends/store.ts'
import { requireWalletAddress } from '../wallets/wallet-address.ts'

/** What this service has sent for an address, newest first; the rest of its history a node cannot tell. */
const listEthereum: QueryOf<'list_eth_transaction_history'> = async (context, request) => {
  const { chain, currency } = sourceOf(context, request)
  const address = request.address.toLowerCase()
  const { sent, pageInfo } = await readPage(context, { ...request, caip2: chain.caip2, address })
  return async () => ({
    transactions: await askChain(chain, () => readEthereumHistory(chain, { address, currency, sent })),
    pageInfo,
  })
}

/** The same on Solana. */
const listSolana: QueryOf<'list_sol_transaction_history'> = async (context, request) => {
  const { chain, currency } = sourceOf(context, request)
  const { address } = request
  const { sent, pageInfo } = await readPage(context, { ...request, caip2: chain.caip2 })
  return async () => ({
    transactions: await askChain(chain, () => readSolanaHistory(chain, { address, currency, sent })),
    pageInfo,
  })
}

export const historyQueries = {
  list_eth_transaction_history: listEthereum,
  list_sol_transaction_history: listSolana,
} satisfies QueryRows

function sourceOf({ chains }: QueryContext, { caip2 }: { readonly caip2: string }) {
  const chain = chains.requireSource(caip2)
  const currency = currencyOf(chain.caip2)
  if (currency) return { chain, currency }
  throw apiError('notImplemented', `a history of chain ${caip2} (fees have no currency there)`)
}

/** Unstated: cursors go through the list as it is, so that the next page is `after` the `endCursor`. */
async function readPage(
  context: QueryContext,
  { caip2, address, paginationOptions }: Page,
): Promise<{ readonly sent: readonly SentTransaction[]; readonly pageInfo: Wire.PageInfo }> {
  const { limit, before, after } = readPagination(paginationOptions)
  await requireWalletAddress(context, address)
  const found = await listIncludedSends(context.tx, context.organizationId, {
    caip2,
    address,
    limit: limit + 1,
    ...(before === undefined ? {} : { newerThan: await readCursor(context, before) }),
    ...(after === undefined ? {} : { olderThan: await readCursor(context, after) }),
  })
  const isMore = found.length > limit
  const sends = before === undefined ? found.slice(0, limit) : found.slice(isMore ? 1 : 0)
  const pageInfo = {
    hasNextPage: before === undefined ? isMore : true,
    hasPreviousPage: before === undefined ? after !== undefined : isMore,
    ...(sends.length === 0 ? {} : { startCursor: sends[0]!.id, endCursor: sends.at(-1)!.id }),
  }
  return { sent: await Promise.all(sends.map((send) => readSent(context, send))), pageInfo }
}

interface Page {
  readonly caip2: string
  readonly address: string
  readonly paginationOptions?: Wire.Pagination
}

async function readSent({ tx, organizationId }: QueryContext, send: SendRow): Promise<SentTransaction> {
  const activity = await findActivityById(tx, organizationId, send.activity_id)
  const sponsored = (await findGasUsage(tx, organizationId, send.id)) !== undefined
  return { send, fingerprint: activity?.fingerprint, sponsored }
}

async function readCursor({ tx, organizationId }: QueryContext, cursor: string): Promise<number> {
  const send = await findSend(tx, organizationId, cursor)
  if (!send) throw apiError('unknownCursor', cursor)
  return send.position
}
