/**
 * What a send becomes on the chain, before gas and fees are known: one call, and what the account lets itself run. INVARIANT:
 * an authorization holds for one nonce of the account (EIP-7702), and executions are counted: what would move either is
 * not sent at the same time.
 */

import { signAuthorization } from '../../chain/index.ts'
import { listSigned, type SendRow } from '../resources/sends/store.ts'
import { keyGone, withAccountKey } from './account-key.ts'
import type { ChainNonce, NoDraft, OnTheWay, SendDraft } from './drafting.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { draftExecution } from './execution.ts'
import { readSendRequest, type StoredSendRequest } from './request.ts'

const NOBODY = `0x${'0'.repeat(40)}`

/** Drafts a send. Throws `NodeUnreachable`. */
export async function draftSend(
  tools: EthereumTools,
  row: SendRow,
  { request, ...place }: ChainNonce & { readonly request: StoredSendRequest },
): Promise<SendDraft | NoDraft> {
  const onTheWay = await readOnTheWay(tools, row)
  switch (request.kind) {
    case undefined: {
      if (onTheWay.authorizes) return 'later'
      const { to, value, data } = request
      return { call: { from: row.sender, to, value: BigInt(value), data } }
    }
    case 'undelegate': {
      if (onTheWay.authorizes || onTheWay.delegates) return 'later'
      const { chainId, nonce } = place
      // A sender's nonce is counted before authorizations are applied.
      const fields = { chainId, address: NOBODY, nonce: BigInt(nonce) + 1n }
      const authorization = await withAccountKey(tools, row, row.sender, (key) => signAuthorization(key, fields))
      if (authorization === undefined) return { failure: keyGone(row.sender) }
      return { call: { from: row.sender, to: row.sender, value: 0n, data: '0x' }, authorization }
    }
    case 'execution':
      return draftExecution(tools, row, { request, onTheWay, ...place })
    case 'raw':
      throw new Error('a send that came signed has lost its bytes')
    default:
      return request satisfies never
  }
}

async function readOnTheWay({ database }: EthereumTools, { id, caip2, sender, account }: SendRow): Promise<OnTheWay> {
  const address = account ?? sender
  const signed = await database.read((tx) => listSigned(tx, { caip2, address }))
  const others = signed
    .filter((each) => each.id !== id)
    .map((each) => ({
      own: each.sender === address,
      type: Number(each.signed_transaction.slice(0, 4)),
      kind: readSendRequest(each.request).kind,
    }))
  return {
    sends: others.some(({ own }) => own),
    authorizes: others.some(({ own, type }) => !own && type === 4),
    delegates: others.some(({ kind }) => kind === 'execution' || kind === 'undelegate'),
  }
}
