import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** An address behind which answers get lost, always after what was asked has been done. */
export interface UnreliableServer {
  readonly url: string
  /** Where requests go; another one after the server was started again. */
  target: string
  readonly counts: {
    asked: number
    lost: number
    unreachable: number
    /** How often each JSON-RPC method was asked. */
    readonly methods: Map<string, number>
  }
  close(): Promise<void>
}

/**
 * Passes requests on to a server, and cuts the connection instead of answering where `loses` says so: of the paths that are
 * asked, each with how often anything was asked until then. What cannot reach the server is cut too.
 */
export async function startUnreliableServer(
  target: string,
  loses: (asked: number, path: string) => boolean,
): Promise<UnreliableServer> {
  const counts = { asked: 0, lost: 0, unreachable: 0, methods: new Map<string, number>() }
  const front = createServer(async (request, response) => {
    const body = await buffer(request)
    const path = request.url ?? '/'
    counts.asked++
    const [, method] = /"method":"(\w+)"/.exec(body.subarray(0, 200).toString()) ?? []
    if (method !== undefined) counts.methods.set(method, (counts.methods.get(method) ?? 0) + 1)
    const lost = loses(counts.asked, path)
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
    try {
      const url = new URL(path, server.target)
      const answer = await fetch(url, { method: 'POST', headers: headers as Record<string, string>, body })
      const text = await answer.text()
      if (!lost) {
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
        return
      }
      counts.lost++
    } catch {
      counts.unreachable++
    }
    response.destroy()
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const server: UnreliableServer = {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    target,
    counts,
    close: () =>
      new Promise((resolve) => {
        front.close(() => resolve())
        front.closeAllConnections()
      }),
  }
  return server
}
