import { namespaceOf } from '../chain/index.ts'

/** How long a node may take to answer: whoever asks goes on without it. */
const TIMEOUT_MS = 5_000

/** What a node answers that refuses a request, in its own words. */
export class NodeRefused extends Error {
  readonly code: number

  constructor(message: string, code: number) {
    super(message)
    this.code = code
  }
}

/** Asks a node of the user's own, by JSON-RPC. Throws where no answer comes, and `NodeRefused` for an error. */
export async function askNode<Result>(url: string, method: string, params: readonly unknown[]): Promise<Result> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal })
  const { result, error } = (await response.json()) as {
    readonly result?: Result
    readonly error?: { readonly message?: unknown; readonly code?: unknown }
  }
  if (error !== undefined && error !== null) throw new NodeRefused(String(error.message), Number(error.code))
  if (result === undefined) throw new TypeError('neither a result nor an error')
  return result
}

/**
 * Whether a node is one of a chain, by its CAIP-2 id: the chain id, or on Solana the first 32 characters of the genesis hash. Throws as
 * `askNode`, and for an answer that is neither.
 */
export async function isNodeOf(url: string, caip2: string): Promise<boolean> {
  if (namespaceOf(caip2) === 'solana') {
    const genesis = await askNode<string>(url, 'getGenesisHash', [])
    return genesis.startsWith(caip2.slice('solana:'.length))
  }
  return caip2 === `eip155:${BigInt(await askNode<string>(url, 'eth_chainId', []))}`
}

/** What a node of the user's own says of itself, or why nothing was understood. */
export type NodeStanding =
  | { readonly answers: true; readonly isOfChain: boolean; readonly head: string }
  | { readonly answers: false; readonly why: string }

/** Asks a node whether it is one of a chain, and for its head: the newest block, on Solana the newest slot. */
export async function readNodeStanding(url: string, caip2: string): Promise<NodeStanding> {
  try {
    const isOfChain = await isNodeOf(url, caip2)
    const head =
      namespaceOf(caip2) === 'solana'
        ? await askNode<number>(url, 'getSlot', [])
        : await askNode<string>(url, 'eth_blockNumber', [])
    return { answers: true, isOfChain, head: String(BigInt(head)) }
  } catch (error) {
    return { answers: false, why: whyUnanswered(error) }
  }
}

/** Never the address, which may hold a key. */
function whyUnanswered(error: unknown): string {
  if (error instanceof NodeRefused) return `it refuses: ${error.message}`
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} seconds`
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }
  if (cause === undefined) return 'its answer is not one of a node'
  return typeof cause.code === 'string' ? cause.code : 'it cannot be reached'
}

/** How a node is called: addresses of nodes carry keys, and the host alone is said. */
export const nodeName = (url: string) => `the node at ${new URL(url).host}`
