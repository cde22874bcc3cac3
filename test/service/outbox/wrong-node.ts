import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A node of Sepolia on which every call fails: whatever is accepted there fails at once, which is one event. */
export interface WrongNode {
  readonly url: string
  /** Answers so many requests more, and no other until it is released. */
  hold(answered: number): void
  /** Refuses so many sends more, and answers about no other until it is released; whatever else is asked for is answered. */
  refuse(count: number): void
  release(): void
  close(): Promise<void>
}

const HASH = `0x${'11'.repeat(32)}`
const BLOCK = {
  number: '0x1',
  hash: HASH,
  parentHash: HASH,
  timestamp: '0x1',
  baseFeePerGas: '0x1',
  transactions: [],
}

export async function startWrongNode(): Promise<WrongNode> {
  let left = Infinity
  let refusals = Infinity
  let released = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    const { id, method } = JSON.parse((await buffer(request)).toString()) as { id: number; method: string }
    if (left-- <= 0 || (method === 'eth_estimateGas' && refusals-- <= 0)) await released.promise
    const result = method === 'eth_chainId' ? '0xaa36a7' : method === 'eth_getBlockByNumber' ? BLOCK : '0x1'
    const error = { code: -32_000, message: 'execution reverted' }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(method === 'eth_estimateGas' ? { error } : { result }) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold(answered) {
      left = answered
      released = Promise.withResolvers()
    },
    refuse(count) {
      refusals = count
      released = Promise.withResolvers()
    },
    release() {
      left = refusals = Infinity
      released.resolve()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
