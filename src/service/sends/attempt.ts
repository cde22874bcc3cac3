/** One signed form of an Ethereum send. All forms of a send have its nonce, so that the chain takes one of them. */

import {
  encodeSignedEthereum,
  ethereumDigest,
  ethereumHash,
  readTransactionFacts,
  signBytes,
} from '../../chain/index.ts'
import { decodeHex, encodeHex } from '../../encoding/index.ts'
import type { EthereumCall, Fees } from '../nodes/index.ts'
import { insertAttempt, type SendAttemptRow, type SendRow } from '../resources/sends/store.ts'
import type { Transaction } from '../store/index.ts'
import { keyGone, withSenderKey } from './account-key.ts'
import type { EthereumTools } from './ethereum-tools.ts'
import { failure } from './failure.ts'
import type { CompletedSend } from './family.ts'
import { raiseGas } from './gas-usage.ts'

/** Signs one form of a send and keeps it, before anybody else has it; what it may cost is counted where it is sponsored. */
export async function signAttempt(
  tools: EthereumTools,
  tx: Transaction,
  row: SendRow,
  { unsigned, number }: { readonly unsigned: Uint8Array; readonly number: number },
): Promise<CompletedSend> {
  const now = tools.clock()
  const signature = await withSenderKey(tools, tx, row, (key) => signBytes(key, ethereumDigest(unsigned)))
  if (signature === undefined) return { failure: keyGone(row.sender) }
  const signed = encodeSignedEthereum(unsigned, signature)
  const { gas, gas_price } = read(signed)
  const refusal = await raiseGas(tx, row, { chain: tools.chain, cost: gas * gas_price, now })
  if (refusal !== undefined) return { failure: failure(refusal) }
  const attempt = toAttempt(row, { signed, number, now })
  await insertAttempt(tx, attempt)
  return { attempt }
}

/** A signed form of a send, as it is kept. */
export function toAttempt(
  { id, organization_id }: Pick<SendRow, 'id' | 'organization_id'>,
  { signed, number, now }: { readonly signed: Uint8Array; readonly number: number; readonly now: number },
): SendAttemptRow {
  return {
    send_id: id,
    organization_id,
    number,
    hash: ethereumHash(signed),
    signed_transaction: `0x${encodeHex(signed)}`,
    terms: null,
    created_at: now,
  }
}

/** The fees of a signed form. */
export function feesOf({ signed_transaction }: SendAttemptRow): Fees {
  const { gas_price, max_priority_fee_per_gas = gas_price } = read(decodeHex(signed_transaction))
  return { maxFeePerGas: gas_price, maxPriorityFeePerGas: max_priority_fee_per_gas }
}

/** The call of a signed form, for asking a node about it. */
export function callOf({ sender }: SendRow, { signed_transaction }: SendAttemptRow): EthereumCall {
  const { to, value, data } = read(decodeHex(signed_transaction))
  return { from: sender, to, value, data }
}

interface Signed {
  readonly to: string
  readonly value: bigint
  readonly data: string
  readonly gas: bigint
  /** The most a unit of gas may cost, whatever the kind. */
  readonly gas_price: bigint
  readonly max_priority_fee_per_gas?: bigint
}

function read(signed: Uint8Array): Signed {
  const request = { unsignedTransaction: signed, interfaces: [], acceptSigned: true }
  return readTransactionFacts({ type: 'TRANSACTION_TYPE_ETHEREUM', ...request }).eth!['tx'] as unknown as Signed
}
