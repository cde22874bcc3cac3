import { apiError, readPagination } from '../../protocol/index.ts'
import { currencyOf } from '../assets/currency.ts'
import type { QueryContext } from '../engine/query.ts'
import { readEthereumHistory, type SentTransaction } from '../history/ethereum.ts'
import { askChain } from '../sends/ask-chain.ts'
import { findGasUsage } from '../store/gas-usage.ts'
import { findActivityById } from '../store/index.ts'
import type { SendRow } from '../store/schema.ts'
import { findSend, listIncludedSends } from '../store/sends.ts'
import type { QueryOf, QueryRows } from './table.ts'
import { requireWalletAddress } from './wallet-address.ts'

/**
 * What this service has sent for an address, newest first; the rest of its history a node cannot tell. Unstated: cursors
 * go through the list as it is, so that the next page is `after` the `endCursor`.
 */
const listEthereum: QueryOf<'list_eth_transaction_history'> = async (context, request) => {
  const { tx, organizationId, chains } = context
  const { caip2, address: written, paginationOptions } = request
  const chain = chains.requireSource(caip2)
  const currency = currencyOf(caip2)
  if (currency === undefined)
    throw apiError('notImplemented', `a history of chain ${caip2} (fees have no currency there)`)
  const { limit, before, after } = readPagination(paginationOptions)
  await requireWalletAddress(context, written)
  const address = written.toLowerCase()
  const found = await listIncludedSends(tx, organizationId, {
    caip2,
    address,
    limit: limit + 1,
    ...(before === undefined ? {} : { newerThan: await readCursor(context, before) }),
    ...(after === undefined ? {} : { olderThan: await readCursor(context, after) }),
  })
  const isMore = found.length > limit
  const sends = before === undefined ? found.slice(0, limit) : found.slice(isMore ? 1 : 0)
  const sent = await Promise.all(sends.map((send) => readSent(context, send)))
  const pageInfo = {
    hasNextPage: before === undefined ? isMore : true,
    hasPreviousPage: before === undefined ? after !== undefined : isMore,
    ...(sends.length === 0 ? {} : { startCursor: sends[0]!.id, endCursor: sends.at(-1)!.id }),
  }
  return async () => ({
    transactions: await askChain(chain, () => readEthereumHistory(chain, { address, currency, sent })),
    pageInfo,
  })
}

export const historyQueries = { list_eth_transaction_history: listEthereum } satisfies QueryRows

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
