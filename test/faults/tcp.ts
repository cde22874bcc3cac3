/** Stands between two ends of a TCP connection and breaks it at a byte, as toxiproxy does: HTTP is nothing it knows. */

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

export const BREAKS = ['reset', 'timeout', 'limit data', 'slow close'] as const

export interface TcpFault {
  /** `reset` ends both ends at once, `timeout` lets nothing more through, `limit data` closes, `slow close` closes late. */
  readonly how: (typeof BREAKS)[number]
  readonly on: 'request' | 'answer'
  /** How many bytes of that direction pass. */
  readonly after: number
}

export interface TcpProxy {
  readonly url: string
  /** Whether the fault was met. */
  struck(): boolean
  /** Bytes that have come each way. */
  bytes(): Readonly<Record<TcpFault['on'], number>>
  close(): Promise<void>
}

const LATE_MS = 150

/** Starts one before an address; the first connection meets the fault, later ones pass. */
export async function startTcpProxy(target: string, fault?: TcpFault): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const bytes = { request: 0, answer: 0 }
  let left = fault
  let struck = false
  const server = createServer((near) => {
    const mine = left
    left = undefined
    const far = connect({ host: hostname, port: Number(port) })
    const ends = [near, far]
    for (const one of ends) {
      sockets.add(one)
      one.once('close', () => sockets.delete(one))
      one.once('error', () => {})
    }
    const strike = () => {
      struck = true
      if (mine!.how === 'timeout') for (const one of ends) one.pause()
      else if (mine!.how === 'reset') for (const one of ends) one.resetAndDestroy()
      else setTimeout(() => ends.map((one) => one.end()), mine!.how === 'slow close' ? LATE_MS : 0)
    }
    const carry = (from: Socket, to: Socket, on: TcpFault['on']) => {
      let passed = 0
      from.on('data', (part) => {
        bytes[on] += part.length
        const room = mine?.on === on ? Math.max(0, mine.after - passed) : part.length
        passed += part.length
        if (room > 0 && !to.destroyed) to.write(part.subarray(0, room))
        if (mine?.on === on && passed > mine.after && !struck) strike()
      })
      from.once('end', () => to.end())
      from.once('close', () => to.destroy())
    }
    carry(near, far, 'request')
    carry(far, near, 'answer')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    struck: () => struck,
    bytes: () => bytes,
    async close() {
      for (const one of sockets) one.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
