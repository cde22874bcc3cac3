/** One signed form of an Ethereum send. All forms of a send have its nonce, so that the chain takes one of them. */
import {
  encodeSignedEthereum,
  ethereumDigest,
  ethereumHash,
  readTransactionFacts,
  type SigningKey,
  signBytes,
} from '../../chain/index.ts'
import { decodeHex, encodeHex } from '../../encoding/index.ts'
import type { Wire } from '../../protocol/index.ts'
import { findSigner, withSigningKey } from '../signing/signer.ts'
import type { Transaction } from '../store/index.ts'
import type { SendAttemptRow, SendRow } from '../store/schema.ts'
import { insertAttempt } from '../store/sends.ts'
import type { EthereumCall, Fees } from './ethereum.ts'
import { failure } from './failure.ts'
import type { SendTools } from './family.ts'

/** Either a signed form of a send, or why there is none. */
export type Completion = { readonly attempt: SendAttemptRow } | { readonly failure: Wire.TxError }

/** Signs one form of a send and keeps it, before anybody else has it. */
export async function signAttempt(
  { sealing, clock }: SendTools,
  tx: Transaction,
  row: SendRow,
  { unsigned, number }: { readonly unsigned: Uint8Array; readonly number: number },
): Promise<Completion> {
  const context = { tx, organizationId: row.organization_id, unseal: sealing.unseal }
  const signer = await findSigner(context, row.sender).catch(() => undefined)
  if (signer === undefined) return { failure: failure(`the key of ${row.sender} is gone`) }
  const sign = (key: SigningKey) => signBytes(key, ethereumDigest(unsigned))
  const attempt = toAttempt(row, {
    signed: encodeSignedEthereum(unsigned, await withSigningKey(context, signer, sign)),
    number,
    now: clock(),
  })
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

/** What a signed form offers. */
export function feesOf({ signed_transaction }: SendAttemptRow): Fees {
  const { gas_price, max_priority_fee_per_gas = gas_price } = read(decodeHex(signed_transaction))
  return { maxFeePerGas: gas_price, maxPriorityFeePerGas: max_priority_fee_per_gas }
}

/** What a signed form does, as the node is asked about it. */
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
