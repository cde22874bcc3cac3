/** A chain's node, asked by JSON-RPC 2.0 over HTTP (jsonrpc.org/specification). */

/** Asks a node. Throws `NodeRefusal` for an answer that is an error, and `NodeUnreachable` where there is no answer. */
export interface ChainNode {
  request<Result>(method: string, parameters: readonly unknown[]): Promise<Result>
}

/** The node has answered, and the answer is no. */
export class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal'
  readonly code: number
  /** What a contract has reverted with, as nodes give it: hex with `0x`. */
  readonly data: string | undefined

  constructor({ code, message, data }: { readonly code: number; readonly message: string; readonly data?: unknown }) {
    super(message)
    this.code = code
    this.data = typeof data === 'string' && data.startsWith('0x') ? data : undefined
  }
}

/** Nobody knows whether the node has done what it was asked: ask again, or look. */
export class NodeUnreachable extends Error {
  override readonly name = 'NodeUnreachable'
}

/** Nodes answer within a second; one that traces a transaction may take a few. */
const TIMEOUT_MS = 10_000

/** Creates a client of the node at an http(s) address. Nothing is asked before the first request. */
export function createChainNode(url: string): ChainNode {
  let id = 0
  return {
    async request<Result>(method: string, params: readonly unknown[]): Promise<Result> {
      const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
      const answer = await post(url, body).catch((cause: unknown) => {
        throw new NodeUnreachable(`${method} had no answer`, { cause })
      })
      if (isError(answer)) throw new NodeRefusal(answer.error)
      if (!('result' in answer)) throw new NodeUnreachable(`${method} had an answer that is no JSON-RPC`)
      return answer.result as Result
    },
  }
}

async function post(url: string, body: string): Promise<object> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const answer: unknown = await response.json()
  if (typeof answer !== 'object' || answer === null) throw new TypeError('no JSON object')
  return answer
}

function isError(answer: object): answer is { readonly error: { readonly code: number; readonly message: string } } {
  const { error } = answer as { readonly error?: { readonly message?: unknown } }
  return typeof error === 'object' && error !== null && typeof error.message === 'string'
}
