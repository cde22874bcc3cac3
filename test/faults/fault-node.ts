/**
 * A JSON-RPC node before another one, such as Anvil, that fails as nodes, their replicas and their gateways do. What it does
 * to a question is one of a few faults; a test says which, question by question, or draws them from `FAULTS`.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

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
  /** A page of a gateway's, with 502. */
  | 'page'
  /** What it answered to this very question a while ago. */
  | 'stale'
  | { readonly lateMs: number }
  /** As it was so many blocks ago. */
  | { readonly behind: number }
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

/** Kinds of faults that may befall a question, for schedules; `n` is any number that tells two of a kind apart. */
export const FAULTS: Readonly<Record<string, { readonly of: RegExp; readonly make: (n: number) => Fault }>> = {
  dropped: { of: /./, make: () => 'dropped' },
  lost: { of: /./, make: () => 'lost' },
  late: { of: /./, make: (n) => ({ lateMs: n % 300 }) },
  repeated: { of: /sendRaw|sendTransaction/, make: () => 'repeated' },
  page: { of: /./, make: () => 'page' },
  'a server’s error': {
    of: /./,
    make: () => ({ status: 500, error: { code: -32_000, message: 'internal server error' } }),
  },
  'an internal error': { of: /./, make: () => ({ error: { code: -32_603, message: 'Internal error' } }) },
  'too many': { of: /./, make: () => ({ status: 429, error: { code: -32_005, message: 'rate limited' } }) },
  behind: { of: /Count|blockNumber|ByHash|ByNumber|Receipt/, make: (n) => ({ behind: 1 + (n % 3) }) },
  'not found': { of: /ByHash|Receipt/, make: () => ({ result: null }) },
  stale: { of: /^get(SignatureStatuses|EpochInfo|LatestBlockhash|FirstAvailableBlock)/, make: () => 'stale' },
  'no status': { of: /SignatureStatuses/, make: () => ({ field: 'value', says: [] }) },
  'done, and refused': { of: /sendRaw/, make: () => ({ done: true, ...NONCE_TOO_LOW }) },
  'of another hash': { of: /Receipt/, make: (n) => ({ field: 'transactionHash', says: wordOf(n) }) },
  'of another block': { of: /Receipt/, make: (n) => ({ field: 'blockHash', says: wordOf(n) }) },
  'of another sender': { of: /Receipt/, make: () => ({ field: 'from', says: `0x${'5'.repeat(40)}` }) },
  overcharged: { of: /maxPriorityFee|gasPrice/, make: () => ({ result: '0x38d7ea4c68000' }) },
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
  } else if (fault === 'page') {
    response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>')
  } else if ('lateMs' in fault) {
    await pause(fault.lateMs)
    say(await pass(target, ask))
  } else if ('behind' in fault) say(await answerBehind(target, ask, fault.behind))
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
async function answerBehind(target: string, ask: Ask, blocks: number): Promise<Said> {
  const { result: latest } = await pass(target, { method: 'eth_blockNumber', params: [] })
  const head = Math.max(0, Number(latest) - blocks)
  if (ask.method === 'eth_blockNumber') return { result: hex(head) }
  const isTag = (given: unknown) => given === 'latest' || given === 'pending'
  const isLater = (given: unknown) => typeof given === 'string' && Number(given) > head
  if (ask.method === 'eth_getBlockByNumber' && isLater(ask.params[0])) return { result: null }
  const params = ask.params.map((given) => (isTag(given) ? hex(head) : given))
  const said = await pass(target, { ...ask, params })
  const { blockNumber } = (said.result ?? {}) as { readonly blockNumber?: string }
  return isLater(blockNumber) ? { result: null } : said
}

const hex = (value: number) => `0x${value.toString(16)}`
