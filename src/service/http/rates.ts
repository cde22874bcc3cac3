import type { FastifyInstance } from 'fastify'
import { sourceOf } from '../network/index.ts'
import { type RateLimit, refuseTooMany } from '../rates.ts'

/**
 * Counts the requests of each source address and says how many are left (docs/protocol/limits.md#requests-a-second), before
 * their bodies are read. Whether the service lives may be asked at any rate.
 */
export function addSourceRate(server: FastifyInstance, rate: RateLimit): void {
  server.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'POST') return
    const left = rate.take(sourceOf(request.ip))
    reply.header('ratelimit-limit', rate.limit)
    reply.header('ratelimit-remaining', left ?? 0)
    reply.header('x-rate-limit-request-remote-addr', request.socket.remoteAddress ?? '')
    reply.header('x-rate-limit-request-forwarded-for', request.headers['x-forwarded-for'] ?? '')
    refuseTooMany(left)
  })
}
