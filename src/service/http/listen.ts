import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Has a server listen, and says at which URL. */
export async function listen(
  server: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  await server.listen({ host, port })
  const address = server.server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${name}:${address.port}`
}
