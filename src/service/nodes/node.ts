/** A chain's node, asked by JSON-RPC 2.0 over HTTP (jsonrpc.org/specification). */

import { setTimeout as pause } from 'node:timers/promises'

/** Asks a node. Throws `NodeRefusal` for an answer that is an error, and `NodeUnreachable` where there is no answer. */
export interface ChainNode {
  request<Result>(method: string, parameters: readonly unknown[]): Promise<Result>
}

/** The node has answered, and the answer is no. */
export class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal'
  readonly code: number
  /** The revert data of a contract, as nodes give it: hex with `0x`. */
  readonly data: string | undefined

  constructor({ code, message, data }: RpcError) {
    super(message)
    this.code = code
    this.data = typeof data === 'string' && data.startsWith('0x') ? data : undefined
  }
}

/** The node may or may not have done the work: ask again, or look. */
export class NodeUnreachable extends Error {
  override readonly name: string = 'NodeUnreachable'
}

/** The node's answer cannot be read. */
export class NodeUnreadable extends NodeUnreachable {
  override readonly name = 'NodeUnreadable'
}

/** Whether it is a node that did not do what it was asked, whatever the reason: any other error is of this service. */
export function isNodeFault(error: unknown): error is NodeRefusal | NodeUnreachable {
  return error instanceof NodeRefusal || error instanceof NodeUnreachable
}

/** The node, or a gateway before it, has not dealt with the question: its answer says nothing about it. */
export class NodeBusy extends NodeUnreachable {
  override readonly name = 'NodeBusy'
}

/** Nodes and their providers word it as they like; what they say of gas or of a revert is about the call. */
const BUSY =
  /pool is full|rate.?limit|limit exceeded|too many|try again|temporarily|header not found|missing trie node|timed? ?out|unavailable|upstream|syncing/i
const ABOUT_THE_CALL = /gas|revert/i
const REVERTED = /revert/i
/**
 * Statuses of a gateway that did not let the question through: who asks is not known or not allowed, nothing is there, it took too
 * long (RFC 9110 §15.5), too many requests (RFC 6585 §4).
 */
const NOT_LET_THROUGH: ReadonlySet<number> = new Set([401, 403, 404, 407, 408, 429])
/** What was asked did not arrive as it was asked (JSON-RPC 2.0 §5.1): "Parse error" and "Invalid Request". */
const GARBLED: ReadonlySet<number> = new Set([-32_700, -32_600])
/** "Method not found", of methods that each node has (JSON-RPC 2.0 §5.1): it is not a node that has answered. */
const NO_METHOD = -32_601
const SERVED_BY_ALL: ReadonlySet<string> = new Set(['eth_sendRawTransaction', 'eth_estimateGas', 'sendTransaction'])
/** "Internal JSON-RPC error": the node has failed, and has refused nothing (JSON-RPC 2.0 §5.1). */
const INTERNAL = { code: -32_603, message: /internal (?:json-rpc |server )?error/i }

/** Nodes answer within a second; one that traces a transaction may take a few. */
const TIMEOUT_MS = 10_000

/** Creates a client of the node at an http(s) address. Nothing is asked before the first request. */
export function createChainNode(url: string): ChainNode {
  let id = 0
  return {
    async request<Result>(method: string, params: readonly unknown[]): Promise<Result> {
      const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
      const { status, answer } = await post(url, body).catch((cause: unknown) => {
        throw new NodeUnreachable(`${method} had no answer`, { cause })
      })
      if (isError(answer))
        throw isBusy(answer.error, { status, method })
          ? new NodeBusy(answer.error.message)
          : new NodeRefusal(answer.error)
      if (!('result' in answer)) throw new NodeUnreachable(`${method} had an answer that is no JSON-RPC`)
      return answer.result as Result
    },
  }
}

/** The same node until a time on `performance.now`: then what is asked, and what still waits, throws `NodeUnreachable`. */
export function boundedNode(node: ChainNode, untilMs: number): ChainNode {
  return {
    async request<Result>(method: string, parameters: readonly unknown[]): Promise<Result> {
      const late = new AbortController()
      const time = Math.max(0, untilMs - performance.now())
      const over = pause(time, undefined, { signal: late.signal, ref: false }).then(() => {
        throw new NodeUnreachable(`the time was over before ${method} was answered`)
      })
      try {
        return await Promise.race([time === 0 ? over : node.request<Result>(method, parameters), over])
      } finally {
        late.abort()
        over.catch(() => {})
      }
    },
  }
}

async function post(url: string, body: string): Promise<{ readonly status: number; readonly answer: object }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const answer: unknown = await response.json()
  if (typeof answer !== 'object' || answer === null) throw new TypeError('no JSON object')
  return { status: response.status, answer }
}

/**
 * Whether it was the server that failed, by any status from 500 on (RFC 9110 §15.6), has no time, or was not reached: it has decided
 * nothing.
 */
function isBusy(
  { code, message, data }: RpcError,
  { status, method }: { readonly status: number; readonly method: string },
): boolean {
  if (NOT_LET_THROUGH.has(status) || GARBLED.has(code)) return true
  if (code === NO_METHOD && SERVED_BY_ALL.has(method)) return true
  if (data !== undefined) return false
  if ((status >= 500 && !REVERTED.test(message)) || (code === INTERNAL.code && INTERNAL.message.test(message)))
    return true
  return BUSY.test(message) && !ABOUT_THE_CALL.test(message)
}

interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

function isError(answer: object): answer is { readonly error: RpcError } {
  const { error } = answer as { readonly error?: { readonly message?: unknown } }
  return typeof error === 'object' && error !== null && typeof error.message === 'string'
}
