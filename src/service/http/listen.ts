import type { AddressInfo } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'

/** Has a server listen, and says at which URL: of all addresses of this machine, that of its loopback. */
export async function listen(
  server: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  await server.listen({ host, port })
  const address = server.server.address() as AddressInfo
  const scheme = server.server instanceof TlsServer ? 'https' : 'http'
  return `${scheme}://${nameOf(address)}:${address.port}`
}

function nameOf({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return 'localhost'
  return family === 'IPv6' ? `[${address}]` : address
}
