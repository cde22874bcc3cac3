/**
 * The transaction of a send, as a node of its chain has it. The API tells a transaction's hash and not its nonce; the hash
 * is of all that was signed, so what a node says is believed when it has that hash, and nobody has to trust the node.
 */
import { encodeEthereum, encodeSignedEthereum, ethereumHash } from '../chain/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { decodeHex } from '../encoding/index.ts'
import { nodeName } from './ask-node.ts'

/** The signed fields of a transaction. */
export interface SignedTransaction {
  readonly nonce: bigint
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly isMined: boolean
}

/** As a node gives it (ethereum/execution-apis, EIP-1559 transaction info); quantities are hex. */
interface NodeTransaction {
  readonly type: string
  readonly blockNumber?: string | null
  readonly chainId: string
  readonly nonce: string
  readonly gas: string
  readonly maxFeePerGas: string
  readonly maxPriorityFeePerGas: string
  readonly to: string | null
  readonly value: string
  readonly input: string
  readonly accessList?: readonly unknown[]
  readonly r: string
  readonly s: string
  readonly yParity?: string
  readonly v?: string
}

const TIMEOUT_MS = 10_000

/** Reads a transaction by its hash. Throws `cli/no-transaction`, also when what the node says does not have the hash. */
export async function readSignedTransaction(url: string, hash: string): Promise<SignedTransaction> {
  const found = await ask(url, hash)
  if (found === null) throw noTransaction(`the node does not have transaction ${hash}`)
  try {
    if (hashOf(found) !== hash.toLowerCase()) throw new TypeError('another hash')
  } catch (cause) {
    throw noTransaction(`what the node says of transaction ${hash} is not what has that hash`, cause)
  }
  return {
    nonce: BigInt(found.nonce),
    gas: BigInt(found.gas),
    maxFeePerGas: BigInt(found.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(found.maxPriorityFeePerGas),
    isMined: typeof found.blockNumber === 'string',
  }
}

/**
 * Only type 2 without an access list is what sends are (docs/protocol/sends.md#ethereum-sends); anything else has
 * another hash.
 */
function hashOf(found: NodeTransaction): string {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to, value, input } = found
  const unsigned = encodeEthereum(2, {
    chain_id: BigInt(chainId),
    nonce: BigInt(nonce),
    max_priority_fee_per_gas: BigInt(maxPriorityFeePerGas),
    max_fee_per_gas: BigInt(maxFeePerGas),
    gas: BigInt(gas),
    ...(to === null ? {} : { to }),
    value: BigInt(value),
    data: input,
  })
  const half = (text: string) => decodeHex(text.slice(2).padStart(64, '0'))
  const recovery = Number(BigInt(found.yParity ?? found.v ?? '0x0'))
  return ethereumHash(encodeSignedEthereum(unsigned, { r: half(found.r), s: half(found.s), recovery }))
}

async function ask(url: string, hash: string): Promise<NodeTransaction | null> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getTransactionByHash', params: [hash] })
  try {
    const headers = { 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal })
    const { result } = (await response.json()) as { readonly result?: NodeTransaction | null }
    if (result === undefined) throw new TypeError('no result')
    return result
  } catch (cause) {
    throw noTransaction(`${nodeName(url)} cannot be asked about transaction ${hash}`, cause)
  }
}

function noTransaction(message: string, cause?: unknown): QuorateError {
  return new QuorateError('cli/no-transaction', message, {
    facts: { submitted: 'nothing' },
    next: 'name a node that has it, with --node or QUORATE_CHAINS',
    ...(cause === undefined ? {} : { cause }),
  })
}
