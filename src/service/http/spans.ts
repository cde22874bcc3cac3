import type { FastifyInstance, FastifyRequest } from 'fastify'
import { beginSpan, isTraced, type OpenSpan } from '../../telemetry/index.ts'

/**
 * A span for each request (opentelemetry.io/docs/specs/semconv/http/http-spans), below that of the client where its headers name
 * one: they are believed for nothing else. Nothing is done for them where nobody keeps traces.
 */
export function addSpans(server: FastifyInstance): void {
  if (!isTraced()) return
  const spans = new WeakMap<FastifyRequest, OpenSpan>()
  server.addHook('onRequest', (request, reply, done) => {
    const { method, headers, id, routeOptions } = request
    // Of a path that no route has only the method is told: the path is whatever somebody wrote.
    const { url = '' } = routeOptions
    const attributes = { 'http.request.method': method, 'http.route': url, 'quorate.request_id': id }
    const span = beginSpan(`${method} ${url}`.trim(), { kind: 'server', headers, attributes })
    spans.set(request, span)
    reply.raw.once('close', () => {
      const { statusCode } = reply.raw
      span.set({ 'http.response.status_code': statusCode })
      if (statusCode >= 500) span.fail(String(statusCode))
      span.end()
    })
    done()
  })
  // The body comes by events of the socket, which know of no span: what follows it is put into the span again.
  server.addHook('preHandler', (request, _reply, done) => spans.get(request)!.within(done))
}
