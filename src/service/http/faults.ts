import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from '../../telemetry/index.ts'
import { FAULT_STATUSES, type Faults } from '../operator/index.ts'
import { sendJson } from './answer.ts'

/**
 * Lets the operator's faults meet the requests of a server. A refusal comes before the request is looked at; an answer
 * that is dropped belongs to a request that was carried out.
 */
export function addFaults(
  server: FastifyInstance,
  {
    faults,
    pathOf,
    logger,
  }: { readonly faults: Faults; readonly pathOf: (request: FastifyRequest) => string; readonly logger: Logger },
): void {
  const dropped = new WeakSet<FastifyRequest>()
  const closing = new AbortController()
  server.addHook('preClose', async () => closing.abort())
  server.addHook('preHandler', async (request, reply) => {
    const fault = request.method === 'POST' ? faults.take(pathOf(request)) : undefined
    if (!fault) return
    const { id: _, path, times: __, ...what } = fault
    logger.warn('a fault that the operator asked for', { requestId: request.id, path, ...what })
    if (fault.delayMs !== undefined) await delay(fault.delayMs, undefined, { signal: closing.signal }).catch(() => {})
    if (fault.drop) dropped.add(request)
    if (fault.status === undefined) return
    if (fault.retryAfter !== undefined) reply.header('retry-after', String(fault.retryAfter))
    const refusal = FAULT_STATUSES[fault.status]()
    return sendJson(reply, refusal.httpStatus, refusal.toBody())
  })
  server.addHook('onSend', async (request) => {
    if (dropped.has(request)) request.raw.socket.destroy()
  })
}
