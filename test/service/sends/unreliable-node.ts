import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A node's address behind which answers get lost, always after the node has done what it was asked. */
export interface UnreliableNode {
  readonly url: string
  /** Where requests go; another one after the node was started again. */
  target: string
  readonly counts: { asked: number; lost: number; unreachable: number }
  close(): Promise<void>
}

/** Loses every `nth` answer by cutting the connection; what cannot reach the node is cut too. */
export async function startUnreliableNode(target: string, everyNth: number): Promise<UnreliableNode> {
  const counts = { asked: 0, lost: 0, unreachable: 0 }
  const server = createServer(async (request, response) => {
    const body = await text(request)
    counts.asked++
    const lost = counts.asked % everyNth === 0
    try {
      const answer = await fetch(node.target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      const bytes = await answer.text()
      if (!lost) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(bytes)
        return
      }
      counts.lost++
    } catch {
      counts.unreachable++
    }
    response.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const node: UnreliableNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    counts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return node
}
