/** The bytes that a request carries → the roots of policies (docs/protocol/policies.md#roots). */
import { decodeHex, isHex } from '../../encoding/index.ts'
import { isEthereumAddress } from '../address.ts'
import { readBitcoin } from './bitcoin.ts'
import { readEthereum } from './ethereum.ts'
import type { SmartContractInterface } from './interfaces.ts'
import { type Facts, refuse } from './refuse.ts'
import { readSolana } from './solana.ts'
import { readTempo } from './tempo.ts'
import { readTron } from './tron.ts'

export interface TransactionRequest {
  readonly type: string
  /** Hex with or without `0x` (docs/protocol/signing.md#transactions), or the bytes. */
  readonly unsignedTransaction: string | Uint8Array
  /** Those of the organization, oldest first. */
  readonly interfaces: readonly SmartContractInterface[]
  /** The address that signs: `from` of Ethereum and Tempo, and the network of Bitcoin, which are written nowhere else. */
  readonly signer?: string | undefined
  /** @default false: what is signed already is refused (docs/protocol/signing.md#transactions) */
  readonly acceptSigned?: boolean
  /** @default false: a Bitcoin output without an address is refused (docs/protocol/signing.md#bitcoin-transactions) */
  readonly acceptUnaddressed?: boolean
}

/** The roots that a transaction defines: one of them. */
export interface TransactionFacts {
  readonly eth?: Facts
  readonly solana?: Facts
  readonly tron?: Facts
  readonly bitcoin?: Facts
  readonly tempo?: Facts
}

type TransactionReader = (bytes: Uint8Array, request: TransactionRequest) => TransactionFacts

const readers = {
  TRANSACTION_TYPE_ETHEREUM: (bytes, { interfaces, signer, acceptSigned = false }) => ({
    eth: { tx: readEthereum(bytes, { interfaces, from: sender(signer), acceptSigned }) },
  }),
  TRANSACTION_TYPE_SOLANA: (bytes, { interfaces }) => ({ solana: { tx: readSolana(bytes, interfaces) } }),
  TRANSACTION_TYPE_TRON: (bytes) => ({ tron: { tx: readTron(bytes) } }),
  TRANSACTION_TYPE_BITCOIN: (bytes, { signer, acceptUnaddressed = false }) => ({
    bitcoin: { tx: readBitcoin(bytes, { signer, acceptUnaddressed }) },
  }),
  TRANSACTION_TYPE_TEMPO: (bytes, { signer, acceptSigned = false }) => ({
    tempo: { tx: readTempo(bytes, { from: sender(signer), acceptSigned }) },
  }),
} as const satisfies Record<string, TransactionReader>

export type TransactionType = keyof typeof readers

export function isTransactionType(type: string): type is TransactionType {
  return Object.hasOwn(readers, type)
}

/**
 * Reads what policies may know of a transaction. Throws `ChainError` for bytes that are not one, to the last of them: a
 * transaction that cannot be read whole must not be judged by a part.
 */
export function readTransactionFacts(request: TransactionRequest): TransactionFacts {
  if (!isTransactionType(request.type)) refuse(`there is no transaction type \`${request.type}\``)
  const { unsignedTransaction } = request
  if (typeof unsignedTransaction !== 'string') return readers[request.type](unsignedTransaction, request)
  if (!isHex(unsignedTransaction)) refuse('it is no hex of whole bytes')
  return readers[request.type](decodeHex(unsignedTransaction), request)
}

/** A key may sign under another form of its address, which is no sender. */
function sender(signer: string | undefined): string | undefined {
  return signer !== undefined && isEthereumAddress(signer) ? signer : undefined
}
