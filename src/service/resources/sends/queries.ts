import { isEthereumAddress, namespaceOf } from '../../../chain/index.ts'
import { apiError, type Wire } from '../../../protocol/index.ts'
import { askChain } from '../../chains/index.ts'
import { createEthereumNode, executionNonce } from '../../nodes/index.ts'
import { nextNonce, spokenExecutions, spokenNonces } from '../../sends/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { findSend, listOpenSendsOf } from './store.ts'

const getStatus: QueryOf<'get_send_transaction_status'> = async ({ tx, organizationId }, request) => {
  const { sendTransactionStatusId } = request
  const row = await findSend(tx, organizationId, sendTransactionStatusId)
  if (!row) throw apiError('notFound', 'send transaction status', sendTransactionStatusId)
  const error = row.failure === null ? undefined : (JSON.parse(row.failure) as Wire.TxError)
  return {
    txStatus: row.status,
    // A signed form that no node has taken yet may still be thrown away.
    ...(row.hash !== null && row.status !== 'INITIALIZED' ? hashOf(row.caip2, row.hash) : {}),
    ...(error === undefined ? {} : { error, ...(error.message === undefined ? {} : { txError: error.message }) }),
  }
}

function hashOf(caip2: string, hash: string) {
  return namespaceOf(caip2) === 'solana' ? { solana: { signature: hash } } : { eth: { txHash: hash } }
}

/**
 * The next nonces of an account and of its executions, behind all that is accepted: a send with the nonce of another would
 * take its place. The node is asked when the store is no longer held.
 */
const getNonces: QueryOf<'get_nonces'> = async ({ chains, tx }, { address, caip2, nonce, gasStationNonce }) => {
  const chain = chains.require(caip2)
  if (!isEthereumAddress(address)) throw apiError('invalidField', 'address', 'must be an Ethereum address')
  const node = createEthereumNode(chain.node)
  const account = address.toLowerCase()
  const open = await listOpenSendsOf(tx, { caip2: chain.caip2, address: account })
  const said = async (wanted: boolean | undefined, ask: () => Promise<bigint>) =>
    wanted === true ? String(await askChain(chain, ask)) : undefined
  return async () => {
    const next = await said(nonce, async () => nextNonce(await node.pendingCount(address), spokenNonces(open, account)))
    const ofStation = await said(gasStationNonce, async () =>
      nextNonce(await executionNonce(node, address, chain.gasStation), spokenExecutions(open, account)),
    )
    return {
      ...(next === undefined ? {} : { nonce: next }),
      ...(ofStation === undefined ? {} : { gasStationNonce: ofStation }),
    }
  }
}

export const sendQueries = {
  get_send_transaction_status: getStatus,
  get_nonces: getNonces,
} satisfies QueryRows
