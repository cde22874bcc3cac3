import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** Systems give ports from 32768 (Linux) or 49152 (others) to connections, and to servers that name none. */
const FIRST = 20_000
const LAST = 32_767

/** Of 12,768 ports a machine has seldom more than a few in use. */
const ATTEMPTS = 100

/**
 * Chooses so many free ports of the loopback, which differ, for a server that is to come back at the same port: none is among
 * those that a system gives away by itself while the server is down. Throws the last error of listening.
 */
export async function choosePorts(count: number): Promise<number[]> {
  const held: Server[] = []
  try {
    for (let attempt = 1; held.length < count; attempt++) {
      try {
        held.push(await hold(randomInt(FIRST, LAST + 1)))
      } catch (error) {
        if (attempt === ATTEMPTS) throw error
      }
    }
    return held.map((server) => (server.address() as { port: number }).port)
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

async function hold(port: number): Promise<Server> {
  const server = createServer()
  server.listen({ host: '127.0.0.1', port })
  await once(server, 'listening')
  return server
}
