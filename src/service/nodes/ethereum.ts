/** The questions to an Ethereum node, in numbers; blocks are `latest`, `pending` or numbers. */
import {
  type Authorization,
  FEE_HISTORY_CALL,
  type FeeHistory,
  outcomeByReceiptsRoot,
  type RpcBlockReceipt,
  type UsualFees,
  usualFeesOf,
} from '../../chain/index.ts'
import { isHex } from '../../encoding/index.ts'
import {
  type EthereumBlock,
  type EthereumBlockHead,
  type EthereumLog,
  type Mined,
  readBlockHead,
  readLogs,
  readMined,
  readWholeBlock,
} from './ethereum-block.ts'
import { type ChainNode, NodeRefusal, NodeUnreadable } from './node.ts'

/** Fees of EIP-1559 in wei a unit of gas. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** Nodes take a replacement that offers an eighth more of both (geth's price bump is a tenth; others want 12.5 %). */
export function raiseFees(before: Fees, suggested: Fees): Fees {
  const raise = (name: keyof Fees) => {
    const raised = (before[name] * 9n) / 8n + 1n
    return raised > suggested[name] ? raised : suggested[name]
  }
  return { maxFeePerGas: raise('maxFeePerGas'), maxPriorityFeePerGas: raise('maxPriorityFeePerGas') }
}

/** What a block takes for a unit of gas, in wei. */
export interface MarketFees {
  readonly baseFee: bigint
  readonly tip: bigint
}

/** A call as the caller asked for it; `to` is empty for a contract's creation. */
export interface EthereumCall {
  readonly from: string
  readonly to: string
  readonly value: bigint
  readonly data: string
}

export interface EventLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

export interface Receipt extends Pick<RpcReceipt, 'blockHash' | 'from' | 'to' | 'contractAddress' | 'logs'> {
  readonly blockNumber: bigint
  readonly succeeded: boolean
  /** The fee that the sender has paid, in wei. */
  readonly cost: bigint
}

interface RpcReceipt {
  readonly transactionHash: string
  readonly blockNumber: string
  readonly blockHash: string
  readonly from: string
  /** Null for a creation, which has made a contract. */
  readonly to: string | null
  readonly contractAddress: string | null
  readonly logs: readonly EventLog[]
  readonly status: string
  readonly gasUsed: string
  readonly effectiveGasPrice: string
  /** What a rollup of the OP stack takes for the chain beneath it. */
  readonly l1Fee?: string | null
}

export type EthereumNode = ReturnType<typeof createEthereumNode>

/** Says an Ethereum node's methods as functions (ethereum/execution-apis). Each throws as `ChainNode` does. */
export function createEthereumNode(node: ChainNode) {
  const quantity = async (method: string, ...parameters: unknown[]) => {
    const answer = await node.request<unknown>(method, parameters)
    // `BigInt` reads nothing, a list and a word for truth as numbers, too.
    return typeof answer === 'string' && /^0x[0-9a-f]{1,64}$/i.test(answer) ? BigInt(answer) : unreadable(method)
  }
  const hex = async (method: string, ...parameters: unknown[]) => {
    const answer = await node.request<unknown>(method, parameters)
    return typeof answer === 'string' && answer.startsWith('0x') && isHex(answer) ? answer : unreadable(method)
  }
  const getBlock = (number: bigint | 'latest', { isFull }: { readonly isFull: boolean }) =>
    node.request<unknown>('eth_getBlockByNumber', [number === 'latest' ? number : hexQuantity(number), isFull])
  const transactionCount = (address: string, block: string) => quantity('eth_getTransactionCount', address, block)
  return {
    node,
    chainId: () => quantity('eth_chainId'),
    blockNumber: () => quantity('eth_blockNumber'),
    /** How many transactions of an address the node has, those that wait included: its next nonce. */
    pendingCount: (address: string) => transactionCount(address, 'pending'),
    /** How many an address has in the chain. */
    latestCount: (address: string) => transactionCount(address, 'latest'),
    /** How many an address has in the chain up to a block. */
    minedCount: (address: string, block: bigint) => transactionCount(address, hexQuantity(block)),
    balance: (address: string) => quantity('eth_getBalance', address, 'latest'),
    /** A contract's code, `0x` for none. */
    code: (address: string) => hex('eth_getCode', address, 'latest'),
    storage: (address: string, slot: string) => quantity('eth_getStorageAt', address, slot, 'latest'),
    /** What a call answers, hex. */
    call: (call: Partial<EthereumCall>) => hex('eth_call', toRpcCall(call), 'latest'),
    estimateGas: (call: EthereumCall, authorization?: Authorization) =>
      quantity(
        'eth_estimateGas',
        { ...toRpcCall(call), ...(authorization && { authorizationList: [toRpcAuthorization(authorization)] }) },
        'pending',
      ),
    /** What the next block takes, as the node has it. */
    async marketFees(): Promise<MarketFees> {
      const head = readBlockHead(await getBlock('latest', { isFull: false }), 'latest')
      if (head === undefined) return unreadable('eth_getBlockByNumber')
      return { baseFee: head.baseFee, tip: await quantity('eth_maxPriorityFeePerGas') }
    },
    /** What the blocks of late took: the medians of their base fees and tips. Nothing where the node does not keep it. */
    async usualFees(): Promise<UsualFees | undefined> {
      const history = await node
        .request<FeeHistory | null>('eth_feeHistory', FEE_HISTORY_CALL)
        .catch((error: unknown) => {
          if (error instanceof NodeRefusal) return null
          throw error
        })
      return usualFeesOf(history)
    },
    /** Hands a signed transaction over; the node's refusal is thrown. */
    sendRaw: (signed: string) => node.request<string>('eth_sendRawTransaction', [signed]),
    /** Whether the node has a transaction, mined or waiting. */
    async knows(hash: string): Promise<boolean> {
      const found = await node.request<{ readonly hash: string } | null>('eth_getTransactionByHash', [hash])
      if (found === null) return false
      if (found.hash?.toLowerCase() === hash) return true
      return unreadable('eth_getTransactionByHash')
    },
    /** What a transaction does; undefined for one that the node does not have. */
    async payment(hash: string) {
      const found = await node.request<Record<string, unknown> | null>('eth_getTransactionByHash', [hash])
      if (found === null) return undefined
      const { to, value, input } = found
      const isRead =
        String(found['hash']).toLowerCase() === hash && /^0x[0-9a-f]+$/i.test(String(value)) && isHex(String(input))
      if (!isRead) return unreadable('eth_getTransactionByHash')
      const receiver = typeof to === 'string' ? to.toLowerCase() : ''
      return { receiver, value: BigInt(String(value)).toString(), data: String(input).toLowerCase() }
    },
    /** The head of the block that the chain has at a number; undefined where the node does not have it. */
    async blockHead(number: bigint): Promise<EthereumBlockHead | undefined> {
      return readBlockHead(await getBlock(number, { isFull: false }), number)
    },
    /**
     * Whether a transaction succeeded in the block of a number, by the block's own hash and all of its receipts; undefined where the node
     * does not tell them, or they do not fit.
     */
    async outcomeByRoot(number: bigint, hash: string): Promise<boolean | undefined> {
      try {
        const block = await getBlock(number, { isFull: false })
        const receipts = await node.request<readonly RpcBlockReceipt[]>('eth_getBlockReceipts', [hexQuantity(number)])
        return outcomeByReceiptsRoot(block as Record<string, unknown>, receipts, hash)
      } catch {
        // No such method, no answer, or one of another form: it proves nothing.
        return undefined
      }
    },
    /** The transactions of the block of a number; undefined where the node does not have it. */
    async transactionsIn(number: bigint): Promise<readonly Mined[] | undefined> {
      return readMined(await getBlock(number, { isFull: true }), number)
    },
    /** A block with what its transactions transfer; undefined for one that the node does not have. */
    async wholeBlock(number: bigint): Promise<EthereumBlock | undefined> {
      return readWholeBlock(await getBlock(number, { isFull: true }), number)
    },
    /** The events with a first topic that some contracts have logged in a block. */
    async logsOf(blockHash: string, contracts: readonly string[], topic: string): Promise<readonly EthereumLog[]> {
      const filter = { blockHash, address: contracts, topics: [topic] }
      return readLogs(await node.request('eth_getLogs', [filter]), blockHash)
    },
    /** The receipt of a transaction that is in a block. One of another transaction is no answer. */
    async receipt(hash: string): Promise<Receipt | undefined> {
      const found = await node.request<RpcReceipt | null>('eth_getTransactionReceipt', [hash])
      if (found === null) return undefined
      if (found.transactionHash?.toLowerCase() !== hash.toLowerCase()) return unreadable('eth_getTransactionReceipt')
      const { transactionHash: _, blockNumber, status, gasUsed, effectiveGasPrice, l1Fee, ...rest } = found
      return {
        ...rest,
        blockHash: rest.blockHash.toLowerCase(),
        blockNumber: BigInt(blockNumber),
        succeeded: BigInt(status) === 1n,
        cost: BigInt(gasUsed) * BigInt(effectiveGasPrice) + BigInt(l1Fee ?? 0),
      }
    },
  }
}

/** Throws for an answer that cannot be read. */
function unreadable(method: string): never {
  throw new NodeUnreadable(`${method} had an answer that cannot be read`)
}

/** Says so where a node serves another chain than the one that it is set for. */
export function otherChain(caip2: string, served: bigint): string | undefined {
  return caip2 === `eip155:${served}` ? undefined : `the node that is set for ${caip2} serves chain eip155:${served}`
}

/** A number as JSON-RPC has it: hex without leading zeros. */
export function hexQuantity(value: bigint): string {
  return `0x${value.toString(16)}`
}

/** A call as JSON-RPC has it. */
export function toRpcCall({ from, to, value = 0n, data }: Partial<EthereumCall>) {
  return { ...(from && { from }), value: hexQuantity(value), data, ...(to && { to }) }
}

/** An authorization as JSON-RPC has it. */
function toRpcAuthorization({ address, ...numbers }: Authorization) {
  return { address, ...Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, hexQuantity(value)])) }
}
