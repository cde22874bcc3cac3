import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** What is asked of a node. */
export interface Ask {
  readonly method: string
  readonly params: readonly unknown[]
}

/** An answer as it is sent; `lost`: what was asked is done, and nobody hears of it. */
export type Lie = { readonly status?: number; readonly result?: unknown; readonly error?: object } | 'lost' | undefined

/** A node behind which another one stands, and that answers some things by itself. */
export interface LyingNode {
  readonly url: string
  /** What is answered instead; nothing for what the other node is to say. */
  lie: (ask: Ask) => Lie
  close(): Promise<void>
}

/** Starts one in front of a node. */
export async function startLyingNode(target: string): Promise<LyingNode> {
  const front = createServer(async (request, response) => {
    const body = (await buffer(request)).toString()
    const ask = JSON.parse(body) as Ask
    const lie = node.lie(ask)
    const headers = { 'content-type': 'application/json' }
    if (typeof lie === 'object') {
      const { status = 200, ...answer } = lie
      response.writeHead(status, headers).end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer }))
      return
    }
    const answer = await fetch(target, { method: 'POST', headers, body })
    const text = await answer.text()
    if (lie === 'lost') response.destroy()
    else response.writeHead(answer.status, headers).end(text)
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const node: LyingNode = {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    lie: () => undefined,
    close: () =>
      new Promise((resolve) => {
        front.close(() => resolve())
        front.closeAllConnections()
      }),
  }
  return node
}
