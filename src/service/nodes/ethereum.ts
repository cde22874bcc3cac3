/** The questions to an Ethereum node, in numbers; blocks are `latest`, `pending` or numbers. */
import type { Authorization } from '../../chain/index.ts'
import { isHex } from '../../encoding/index.ts'
import { type ChainNode, NodeUnreadable } from './node.ts'

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

/** A call as the caller asked for it; `to` is empty for a contract's creation. */
export interface EthereumCall {
  readonly from: string
  readonly to: string
  readonly value: bigint
  readonly data: string
}

export interface Log {
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

interface RpcBlock {
  readonly number: string
  readonly baseFeePerGas?: string
}

interface RpcReceipt {
  readonly blockNumber: string
  readonly blockHash: string
  readonly from: string
  /** Null for a creation, which has made a contract. */
  readonly to: string | null
  readonly contractAddress: string | null
  readonly logs: readonly Log[]
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
    /** What a transaction should offer now: the tip that the node suggests, and room for the base fee to double. */
    async suggestFees(): Promise<Fees> {
      const block = await node.request<RpcBlock | null>('eth_getBlockByNumber', ['latest', false])
      if (typeof block?.number !== 'string') return unreadable('eth_getBlockByNumber')
      const tip = await quantity('eth_maxPriorityFeePerGas')
      return { maxFeePerGas: 2n * BigInt(block.baseFeePerGas ?? '0x0') + tip, maxPriorityFeePerGas: tip }
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
    async receipt(hash: string): Promise<Receipt | undefined> {
      const found = await node.request<RpcReceipt | null>('eth_getTransactionReceipt', [hash])
      if (found === null) return undefined
      const { blockNumber, status, gasUsed, effectiveGasPrice, l1Fee, ...rest } = found
      return {
        ...rest,
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
