/**
 * A JSON-RPC node before another one, such as Anvil, that fails as nodes, their replicas and their gateways do. What it does
 * to a question is one of a few faults; a test says which, question by question, or draws them from `FAULTS`.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { NO_BLOCKHASH, withBlockhash } from '../../src/chain/index.ts'
import { decodeBase64, encodeBase64 } from '../../src/encoding/index.ts'

/** What is asked of a node. */
export interface Ask {
  readonly method: string
  readonly params: readonly unknown[]
}

/** An answer that the node behind has not given; `status` is HTTP's. @default 200 */
export interface Said {
  /** What was asked is done before this is said. */
  readonly done?: true
  readonly status?: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: string }
}

export type Fault =
  /** The connection is cut before anything is done. */
  | 'dropped'
  /** What was asked is done, and nobody hears of it. */
  | 'lost'
  /** What was asked is done twice, and the second answer is given. */
  | 'repeated'
  /** What it answered to this very question a while ago. */
  | 'stale'
  | { readonly lateMs: number }
  /** A page of a gateway's, with this status. */
  | { readonly page: number }
  /** As it was so many blocks ago; of fewer than none, the head is said to be further. `alone`: it has nothing of what waits elsewhere. */
  | { readonly behind: number; readonly alone?: true }
  /** Another replica answers. */
  | { readonly replica: string }
  /** The true answer but for one field. */
  | { readonly field: string; readonly says: unknown }
  | Said
  | undefined

export interface FaultNode {
  readonly url: string
  /** What is done to a question; nothing for the truth. */
  fault: (ask: Ask) => Fault
  /** How often it was asked, by method. */
  readonly asked: ReadonlyMap<string, number>
  close(): Promise<void>
}

export const NONCE_TOO_LOW: Said = { error: { code: -32_000, message: 'nonce too low' } }

/** Longer than a client of the service waits for a node's answer: what is asked is done when nobody listens any more. */
const TOO_LATE_MS = 11_000

/** Gateways have a page for each of these, and some send theirs with 200. */
const PAGES = [200, 401, 403, 404, 408, 429, 500, 502, 503, 504]

/** Errors by which a node, or what stands before it, says that it cannot answer now: none is of the question. */
const ERRORS: readonly (readonly [status: number, code: number, message: string])[] = [
  [200, -32_700, 'Parse error'],
  [200, -32_600, 'Invalid Request'],
  [200, -32_601, 'the method does not exist/is not available'],
  [200, -32_603, 'Internal error'],
  [200, -32_000, 'header not found'],
  [200, -32_000, 'missing trie node 5f3c (path 0a)'],
  [200, -32_000, 'upstream request timed out'],
  [200, -32_002, 'resource unavailable'],
  [200, -32_005, 'daily request count exceeded, request rate limited'],
  [401, -32_000, 'must be authenticated'],
  [403, -32_000, 'forbidden'],
  [404, -32_000, 'no such project'],
  [408, -32_000, 'request took too long'],
  [429, -32_005, 'rate limited'],
  [500, -32_000, 'internal server error'],
  [502, -32_000, 'bad gateway'],
  [503, -32_000, 'no backend is healthy'],
]

interface Kind {
  readonly of: RegExp
  readonly make: (n: number) => Fault
  /** It takes so long that a schedule draws it once in ten times. */
  readonly isSeldom?: true
  /** It befalls a question once: said again at a later head, it would rightly be believed. */
  readonly isOnce?: true
}

const DEAR = '0x38d7ea4c68000'

/** Kinds of faults that may befall a question, for schedules; `n` is any number that tells two of a kind apart. */
export const FAULTS: Readonly<Record<string, Kind>> = {
  dropped: { of: /./, make: () => 'dropped' },
  lost: { of: /./, make: () => 'lost' },
  late: { of: /./, make: (n) => ({ lateMs: n % 300 }) },
  'too late': { of: /./, make: () => ({ lateMs: TOO_LATE_MS }), isSeldom: true },
  repeated: { of: /sendRaw|sendTransaction/, make: () => 'repeated' },
  page: { of: /./, make: (n) => ({ page: PAGES[n % PAGES.length]! }) },
  'an error': {
    of: /./,
    make(n) {
      const [status, code, message] = ERRORS[n % ERRORS.length]!
      return { status, error: { code, message } }
    },
  },
  behind: { of: /Count|blockNumber|ByHash|ByNumber|Receipt/, make: (n) => ({ behind: 1 + (n % 3) }) },
  ahead: { of: /blockNumber/, make: (n) => ({ behind: -1 - (n % 8) }) },
  'not found': { of: /ByHash|Receipt/, make: () => ({ result: null }) },
  stale: { of: /^get(SignatureStatuses|EpochInfo|LatestBlockhash|FirstAvailableBlock)/, make: () => 'stale' },
  'no status': { of: /SignatureStatuses/, make: () => ({ field: 'value', says: [] }) },
  settled: { of: /SignatureStatuses/, make: (n) => ({ field: 'value', says: [statusAt(n, null)] }) },
  failed: { of: /SignatureStatuses/, make: (n) => ({ field: 'value', says: [statusAt(n, FAILS)] }) },
  'settled where it is not': { of: /SignatureStatuses/, make: () => ({ field: 'value', says: [statusAt(1, null)] }) },
  'failed where it is not': { of: /SignatureStatuses/, make: () => ({ field: 'value', says: [statusAt(1, FAILS)] }) },
  'would fail': {
    of: /estimateGas/,
    make: () => ({ error: { code: 3, message: 'execution reverted', data: '0x' } }),
    isOnce: true,
  },
  'would fail there': {
    of: /simulateTransaction/,
    make: () => ({ field: 'value', says: { err: FAILS, logs: [] } }),
    isOnce: true,
  },
  'without code': { of: /getCode/, make: () => ({ result: '0x' }), isOnce: true },
  'would move nothing': { of: /^eth_call$/, make: () => ({ result: wordOf(0) }), isOnce: true },
  'done, and refused': { of: /sendRaw/, make: () => ({ done: true, ...NONCE_TOO_LOW }) },
  'of another hash': { of: /Receipt/, make: (n) => ({ field: 'transactionHash', says: wordOf(n) }) },
  'of another block': { of: /Receipt/, make: (n) => ({ field: 'blockHash', says: wordOf(n) }) },
  'of another height': { of: /Receipt/, make: (n) => ({ field: 'blockNumber', says: hex(n) }) },
  'of another sender': { of: /Receipt/, make: () => ({ field: 'from', says: `0x${'5'.repeat(40)}` }) },
  'with another outcome': { of: /Receipt/, make: (n) => ({ field: 'status', says: hex(n % 2) }) },
  'of another transaction': { of: /TransactionByHash/, make: (n) => ({ field: 'hash', says: wordOf(n) }) },
  'counted wrongly': { of: /TransactionCount/, make: (n) => ({ result: hex(n % 100) }) },
  'of another chain': { of: /chainId/, make: () => ({ result: '0x1' }) },
  overcharged: { of: /maxPriorityFee|gasPrice/, make: () => ({ result: DEAR }) },
  'overcharged for the block': { of: /ByNumber/, make: () => ({ field: 'baseFeePerGas', says: DEAR }) },
  'overcharged of late': { of: /feeHistory/, make: () => ({ field: 'baseFeePerGas', says: Array(21).fill(DEAR) }) },
}

const FAILS = { InstructionError: [0, { Custom: 1 }] }
const statusAt = (slot: number, err: unknown) => ({
  ...{ slot: 1_000 + slot, confirmations: null, err, confirmationStatus: 'finalized' },
})

/** Draws a kind for a question from those that may befall it; undefined where none may. `once` has what befell a question before. */
export function drawFault(
  { method, params }: Ask,
  draw: (below: number) => number,
  { kinds, once }: { readonly kinds: readonly (readonly [name: string, kind: Kind])[]; readonly once: Set<string> },
): { readonly name: string; readonly fault: Fault } | undefined {
  const [about] = params
  const question = `${method} ${method === 'simulateTransaction' ? undated(`${about}`) : JSON.stringify(about)}`
  const those = kinds.filter(([, { of, isOnce }]) => of.test(method) && !(isOnce && once.has(question)))
  if (those.length === 0) return undefined
  const [name, { make, isSeldom, isOnce }] = those[draw(those.length)]!
  if (isSeldom && draw(10) > 0) return undefined
  if (isOnce) once.add(question)
  return { name, fault: make(draw(1_000)) }
}

/** A transaction of Solana is dated anew each time that it is tried. */
const undated = (transaction: string) => encodeBase64(withBlockhash(decodeBase64(transaction), NO_BLOCKHASH))

/** Kinds of faults by which another replica answers. */
export const fromReplica = ({ url }: Pick<FaultNode, 'url'>): readonly (readonly [string, Kind])[] => [
  ['from another replica', { of: /./, make: () => ({ replica: url }) }],
]

/**
 * Starts another replica of the node at an address, as behind one address of a provider's: its head is behind, it has nothing of what
 * waits with others, and what it is handed reaches the chain late.
 */
export async function startReplica(target: string): Promise<FaultNode> {
  const replica = await startFaultNode(target)
  replica.fault = ({ method }) => {
    if (/^send|sendRaw/.test(method)) return { lateMs: 700 }
    if (method.startsWith('get')) return 'stale'
    return FAULTS['behind']!.of.test(method) ? { behind: 2, alone: true } : undefined
  }
  return replica
}

const wordOf = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

/** Starts one in front of the node at an address. */
export async function startFaultNode(target: string): Promise<FaultNode> {
  const past = new Map<string, Said[]>()
  const asked = new Map<string, number>()
  const front = createServer(async (request, response) => {
    const ask = JSON.parse((await buffer(request)).toString()) as Ask
    asked.set(ask.method, (asked.get(ask.method) ?? 0) + 1)
    try {
      await answer(response, { ask, target, fault: node.fault(ask), past })
    } catch {
      response.destroy()
    }
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const node: FaultNode = {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    fault: () => undefined,
    asked,
    close: () =>
      new Promise((resolve) => {
        front.close(() => resolve())
        front.closeAllConnections()
      }),
  }
  return node
}

interface Work {
  readonly ask: Ask
  readonly target: string
  readonly fault: Fault
  /** Its last answers by the question, for when it is to give an old one. */
  readonly past: Map<string, Said[]>
}

/** So many answers ago is a while. */
const A_WHILE = 5

async function answer(response: ServerResponse, { ask, target, fault, past }: Work): Promise<void> {
  const question = JSON.stringify([ask.method, ask.params])
  const truth = async () => {
    const said = await pass(target, ask)
    const before = past.get(question) ?? []
    if (/^get/.test(ask.method)) past.set(question, [...before, said].slice(-A_WHILE))
    return said
  }
  const say = ({ status = 200, ...said }: Said) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...said }))
  if (fault === undefined) say(await truth())
  else if (fault === 'stale') say(past.get(question)?.[0] ?? (await truth()))
  else if (fault === 'dropped') response.destroy()
  else if (fault === 'lost') {
    await pass(target, ask)
    response.destroy()
  } else if (fault === 'repeated') {
    await pass(target, ask)
    say(await pass(target, ask))
  } else if ('page' in fault) {
    response.writeHead(fault.page, { 'content-type': 'text/html' }).end(`<html><h1>${fault.page}</h1></html>`)
  } else if ('lateMs' in fault) {
    await pause(fault.lateMs)
    say(await pass(target, ask))
  } else if ('behind' in fault) say(await answerBehind(target, ask, fault))
  else if ('replica' in fault) say(await pass(fault.replica, ask))
  else if ('field' in fault) {
    const { result, ...rest } = await pass(target, ask)
    const changed = typeof result === 'object' && result !== null ? { ...result, [fault.field]: fault.says } : result
    say({ ...rest, result: changed })
  } else {
    const { done, ...said } = fault
    if (done) await pass(target, ask)
    say(said)
  }
}

async function pass(target: string, { method, params }: Ask): Promise<Said> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answered = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = (await answered.json()) as Said
  return { status: answered.status, ...(error === undefined ? { result } : { error }) }
}

/** What the node said so many blocks ago; transactions that it is given are passed on all the same. */
async function answerBehind(
  target: string,
  ask: Ask,
  { behind: blocks, alone }: { readonly behind: number; readonly alone?: true },
): Promise<Said> {
  const { result: latest } = await pass(target, { method: 'eth_blockNumber', params: [] })
  const head = Math.max(0, Number(latest) - blocks)
  if (ask.method === 'eth_blockNumber') return { result: hex(head) }
  const isTag = (given: unknown) => given === 'latest' || given === 'pending'
  const isLater = (given: unknown) => typeof given === 'string' && Number(given) > head
  if (ask.method === 'eth_getBlockByNumber' && isLater(ask.params[0])) return { result: null }
  const params = ask.params.map((given) => (isTag(given) ? hex(head) : given))
  const said = await pass(target, { ...ask, params })
  const { blockNumber } = (said.result ?? {}) as { readonly blockNumber?: string | null }
  return isLater(blockNumber) || (alone && blockNumber === null) ? { result: null } : said
}

const hex = (value: number) => `0x${value.toString(16)}`
