/** Counts requests where a service is reached: what a client says of its own rate is not believed. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** A request as it came. */
export interface Seen {
  readonly at: number
  readonly path: string
  /** Undefined until its body is there. */
  organizationId?: string
}

/** Stands before the service at `url`, passes requests on, and notes when each came. */
export async function watchRequests(url: string) {
  const seen: Seen[] = []
  const { hostname, port } = new URL(url)
  const server = createServer((incoming, outgoing) => {
    const { url: path = '', method, headers } = incoming
    const one: Seen = { at: performance.now(), path }
    seen.push(one)
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => void parts.push(part))
    incoming.once('end', () => {
      const [, organizationId] = /"organizationId":"([^"]+)"/.exec(Buffer.concat(parts).toString()) ?? []
      if (organizationId !== undefined) one.organizationId = organizationId
    })
    const onward = request({ hostname, port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    const closed = new Promise<unknown>((resolve) => server.close(resolve))
    server.closeAllConnections()
    return closed
  }
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

/** Most that came in any time of this length. */
export function mostIn(windowMs: number, times: readonly number[]): number {
  let [most, from] = [0, 0]
  for (const [to, at] of times.entries()) {
    while (at - times[from]! >= windowMs) from++
    most = Math.max(most, to - from + 1)
  }
  return most
}

/** Measures how long this process could count nothing, at most: what came meanwhile is noted together, after it. */
export function watchHoldUps() {
  const everyMs = 5
  const delays = monitorEventLoopDelay({ resolution: everyMs })
  delays.enable()
  return {
    mostMs: () => Math.max(0, Math.ceil(delays.max / 1e6 - everyMs)),
    /** What was before counts no more. */
    reset: () => delays.reset(),
    close: () => void delays.disable(),
  }
}

/**
 * Whether no second had more than the rate, by when requests were noted. As many as came within a second less the hold-up of who noted
 * them did come within a second; of the rest it cannot tell.
 */
export function keepsRate(times: readonly number[], requestsPerSecond: number, heldUpMs: number): boolean {
  return mostIn(Math.max(0, 1_000 - heldUpMs), times) <= requestsPerSecond
}
