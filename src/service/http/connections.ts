/**
 * The connections of a server: how many there may be, of one source and in all, and how they end. Premise: a connection
 * that says nothing costs memory and a descriptor, and a server that closes waits for it, so that both are bounded here.
 */
import type { Server } from 'node:http'
import { BlockList, type Socket } from 'node:net'
import { type TLSSocket, Server as TlsServer } from 'node:tls'
import { apiError } from '../../protocol/index.ts'
import { parseAddress, parseBlock, sourceOf } from '../network/index.ts'
import type { EdgeLimits } from './limits.ts'
import { refuseSocket } from './raw-refusal.ts'

export interface Connections {
  /** How many are open. */
  count(): number
  /** How many were refused, ever. */
  refused(): number
  /** Counts a request of a connection while it is worked on; call what is returned when it is over. */
  begin(socket: Socket): () => void
  /** How many requests of a connection are worked on. */
  requestsOf(socket: Socket): number
  /** Ends every connection that has no request, the others after theirs, and all of them after so many ms. */
  drain(ms: number): Promise<void>
}

/** Takes over how a server takes connections: one too many is refused before anything of it is read. */
export function guardConnections(
  server: Server,
  limits: Pick<EdgeLimits, 'connections' | 'connectionsPerSource'>,
  trustedProxies: readonly string[],
): Connections {
  const requests = new Map<Socket, number>()
  const bySource = new Map<string, number>()
  const isEncrypted = server instanceof TlsServer
  const beforeHandshake = new Map<string, Socket>()
  const connectionOf = new WeakMap<Socket, Socket>()
  const proxies = listOf(trustedProxies)
  let refused = 0
  let draining = false
  let emptied: (() => void) | undefined

  function admit(socket: Socket): void {
    const address = parseAddress(socket.remoteAddress ?? '')
    const isProxy = address !== undefined && proxies.check(address.address, address.family)
    const source = isProxy ? undefined : sourceOf(socket.remoteAddress)
    const ofSource = source === undefined ? 0 : (bySource.get(source) ?? 0)
    const isTooMany = requests.size >= limits.connections
    if (draining || isTooMany || ofSource >= limits.connectionsPerSource) {
      refused += 1
      // Nothing can be said before the connection is encrypted.
      if (isEncrypted) socket.destroy()
      else refuseSocket(socket, draining || isTooMany ? apiError('unavailable') : apiError('rateLimited'))
      return
    }
    requests.set(socket, 0)
    if (source !== undefined) bySource.set(source, ofSource + 1)
    const place = placeOf(socket)
    if (isEncrypted) beforeHandshake.set(place, socket)
    socket.once('close', () => {
      requests.delete(socket)
      beforeHandshake.delete(place)
      if (requests.size === 0) emptied?.()
      if (source === undefined) return
      const left = bySource.get(source)! - 1
      if (left === 0) bySource.delete(source)
      else bySource.set(source, left)
    })
    for (const listener of listeners) listener.call(server, socket)
  }

  // Requests come over the encrypted side of a connection; what is counted, from its first byte on, is the connection.
  server.prependListener('secureConnection', (encrypted: TLSSocket) => {
    const socket = beforeHandshake.get(placeOf(encrypted))
    if (!socket) return
    beforeHandshake.delete(placeOf(encrypted))
    connectionOf.set(encrypted, socket)
  })
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', admit)

  return {
    count: () => requests.size,
    refused: () => refused,
    begin(of) {
      const socket = connectionOf.get(of) ?? of
      requests.set(socket, (requests.get(socket) ?? 0) + 1)
      return () => {
        const left = requests.get(socket)
        if (left === undefined) return
        requests.set(socket, left - 1)
        if (draining && left === 1) of.destroySoon()
      }
    },
    requestsOf: (socket) => requests.get(connectionOf.get(socket) ?? socket) ?? 0,
    async drain(ms) {
      draining = true
      const empty = Promise.withResolvers<void>()
      emptied = empty.resolve
      if (requests.size === 0) return
      for (const [socket, count] of requests) if (count === 0) socket.destroy()
      const timer = setTimeout(() => {
        for (const socket of requests.keys()) socket.destroy()
      }, ms)
      await empty.promise
      clearTimeout(timer)
    },
  }
}

/** What no two connections have in common while they are open. */
function placeOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

function listOf(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of texts) {
    const block = parseBlock(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`)
    if (block) list.addSubnet(block.first, block.bits, block.family)
  }
  return list
}
