import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { choosePorts } from '../../src/loopback/index.ts'

/** What Linux gives away by itself; other systems give from 49152. */
const RANGE = '/proc/sys/net/ipv4/ip_local_port_range'
const [from] = existsSync(RANGE) ? readFileSync(RANGE, 'utf8').trim().split(/\s+/).map(Number) : [49_152]

test('ports that are chosen are free, differ, and are none that the system gives away by itself', async () => {
  const ports = await choosePorts(40)
  expect(new Set(ports).size).toBe(40)
  for (const port of ports) {
    expect(port).toBeGreaterThanOrEqual(1024)
    expect(port).toBeLessThan(from!)
  }
  const servers = ports.map((port) => createServer().listen(port, '127.0.0.1'))
  await Promise.all(
    servers.map((server) => new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject))),
  )
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
})
