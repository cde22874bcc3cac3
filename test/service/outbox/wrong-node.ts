import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A node of another chain than it is set for: whatever is sent there fails at once, which is one event. */
export interface WrongNode {
  readonly url: string
  /** Answers so many requests more, and no other until it is released. */
  hold(answered: number): void
  release(): void
  close(): Promise<void>
}

export async function startWrongNode(): Promise<WrongNode> {
  let left = Infinity
  let released = Promise.withResolvers<void>()
  const server = createServer(async (request, response) => {
    const { id } = JSON.parse((await buffer(request)).toString()) as { id: number }
    if (left-- <= 0) await released.promise
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold(answered) {
      left = answered
      released = Promise.withResolvers()
    },
    release() {
      left = Infinity
      released.resolve()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
