import { NodeUnreadable } from './node.ts'

/** A block and what its transactions move of the chain's currency. Hashes and addresses are hex with `0x`, lower case. */
export interface EthereumBlock {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** Seconds since the epoch. */
  readonly timestamp: number
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

/** Reads an answer of `eth_getBlockByNumber` with its transactions; undefined for a block that is not there. Throws `NodeUnreadable`. */
export function readWholeBlock(answer: unknown, asked: bigint): EthereumBlock | undefined {
  const method = 'eth_getBlockByNumber'
  if (answer === null) return undefined
  const block = memberOf(answer, method)
  const number = quantity(block['number'], method)
  const { transactions } = block
  if (number !== asked || !Array.isArray(transactions)) throw unreadable(method)
  return {
    number: Number(number),
    hash: hex(block['hash'], 32, method),
    parentHash: hex(block['parentHash'], 32, method),
    timestamp: Number(quantity(block['timestamp'], method)),
    transactions: transactions.map((each: unknown) => {
      const one = memberOf(each, method)
      return {
        hash: hex(one['hash'], 32, method),
        from: hex(one['from'], 20, method),
        to: one['to'] === null || one['to'] === undefined ? null : hex(one['to'], 20, method),
        value: quantity(one['value'], method),
      }
    }),
  }
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
