import { NodeUnreadable } from './node.ts'

/** What a block says without its transactions. Hashes are hex with `0x`, lower case. */
export interface EthereumBlockHead {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  /** In wei a unit of gas; 0 where the chain has none. */
  readonly baseFee: bigint
}

/** A block and what its transactions move of the chain's currency. Hashes and addresses are hex with `0x`, lower case. */
export interface EthereumBlock extends EthereumBlockHead {
  readonly transactions: readonly {
    readonly hash: string
    readonly from: string
    /** Null for a creation. */
    readonly to: string | null
    readonly value: bigint
  }[]
}

/** An event that a contract has logged. */
export interface EthereumLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly transactionHash: string
}

/** A transaction in a block; hash and address are hex with `0x`, lower case. */
export interface Mined {
  readonly hash: string
  readonly from: string
  readonly nonce: bigint
}

const GET_BLOCK = 'eth_getBlockByNumber'

/**
 * Reads the head of a block from an answer of `eth_getBlockByNumber`; undefined for a block that is not there. Throws
 * `NodeUnreadable`, also for a block of another number than the one that was asked for.
 */
export function readBlockHead(answer: unknown, asked: bigint | 'latest'): EthereumBlockHead | undefined {
  if (answer === null) return undefined
  const block = memberOf(answer, GET_BLOCK)
  const number = quantity(block['number'], GET_BLOCK)
  if (asked !== 'latest' && number !== asked) throw unreadable(GET_BLOCK)
  return {
    number: Number(number),
    hash: hex(block['hash'], 32, GET_BLOCK),
    parentHash: hex(block['parentHash'], 32, GET_BLOCK),
    timestamp: Number(quantity(block['timestamp'], GET_BLOCK)),
    baseFee: quantity(block['baseFeePerGas'] ?? '0x0', GET_BLOCK),
  }
}

/** Reads a block that was asked for with its transactions, as `readBlockHead` does. */
export function readWholeBlock(answer: unknown, asked: bigint): EthereumBlock | undefined {
  const head = readBlockHead(answer, asked)
  return head && { ...head, transactions: transactionsOf(answer).map(readMovement) }
}

/** Reads who sent the transactions of a block with which nonces, as `readBlockHead` does. */
export function readMined(answer: unknown, asked: bigint): readonly Mined[] | undefined {
  return readBlockHead(answer, asked) && transactionsOf(answer).map(readSentNonce)
}

function transactionsOf(answer: unknown): readonly Readonly<Record<string, unknown>>[] {
  const { transactions } = memberOf(answer, GET_BLOCK)
  if (!Array.isArray(transactions)) throw unreadable(GET_BLOCK)
  return transactions.map((each: unknown) => memberOf(each, GET_BLOCK))
}

function readMovement({
  hash,
  from,
  to,
  value,
}: Readonly<Record<string, unknown>>): EthereumBlock['transactions'][number] {
  return {
    hash: hex(hash, 32, GET_BLOCK),
    from: hex(from, 20, GET_BLOCK),
    to: to === null || to === undefined ? null : hex(to, 20, GET_BLOCK),
    value: quantity(value, GET_BLOCK),
  }
}

function readSentNonce({ hash, from, nonce }: Readonly<Record<string, unknown>>): Mined {
  return { hash: hex(hash, 32, GET_BLOCK), from: hex(from, 20, GET_BLOCK), nonce: quantity(nonce, GET_BLOCK) }
}

/** Reads an answer of `eth_getLogs` about one block. Throws `NodeUnreadable`, also for a log of another block. */
export function readLogs(answer: unknown, blockHash: string): readonly EthereumLog[] {
  const method = 'eth_getLogs'
  if (!Array.isArray(answer)) throw unreadable(method)
  return answer.map((each: unknown) => {
    const log = memberOf(each, method)
    const { topics, data } = log
    if (hex(log['blockHash'], 32, method) !== blockHash) throw unreadable(method)
    if (!Array.isArray(topics) || typeof data !== 'string') throw unreadable(method)
    return {
      address: hex(log['address'], 20, method),
      topics: topics.map((topic: unknown) => hex(topic, 32, method)),
      data,
      transactionHash: hex(log['transactionHash'], 32, method),
    }
  })
}

function memberOf(value: unknown, method: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw unreadable(method)
  return value as Readonly<Record<string, unknown>>
}

function hex(value: unknown, bytes: number, method: string): string {
  if (typeof value !== 'string' || value.length !== 2 + 2 * bytes || !/^0x[0-9a-f]+$/i.test(value)) {
    throw unreadable(method)
  }
  return value.toLowerCase()
}

function quantity(value: unknown, method: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw unreadable(method)
  return BigInt(value)
}

function unreadable(method: string): NodeUnreadable {
  return new NodeUnreadable(`${method} had an answer that cannot be read`)
}
