/** Stands before the real service and answers with 429 when it is told to. Keeps when each request came. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface BusyService {
  readonly url: string
  /** Requests in the order in which they came, refused ones among them. */
  readonly seen: readonly { readonly path: string; readonly refused: boolean; readonly stamp: string }[]
  /** Refuses the next requests, as the API words it (docs/protocol/limits.md#requests-a-second). */
  refuseNext(count: number, retryAfter?: string): void
  close(): Promise<void>
}

export async function startBusyService(target: string): Promise<BusyService> {
  const seen: { path: string; refused: boolean; stamp: string }[] = []
  let left = 0
  let after: string | undefined
  const server = createServer((incoming, outgoing) => {
    const refused = left > 0
    seen.push({ path: incoming.url ?? '', refused, stamp: String(incoming.headers['x-stamp']) })
    if (refused) {
      left--
      incoming.resume()
      outgoing.writeHead(429, {
        'content-type': 'application/json',
        ...(after === undefined ? {} : { 'retry-after': after }),
      })
      const message = 'Too many requests. Please wait and try again in a few seconds'
      outgoing.end(JSON.stringify({ code: 8, message, details: [], turnkeyErrorCode: '' }))
      return
    }
    const forwarded = request(`${target}${incoming.url}`, { method: incoming.method, headers: incoming.headers })
    forwarded.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    refuseNext(count, retryAfter) {
      left = count
      after = retryAfter
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
