import type { FastifyRequest } from 'fastify'
import { activities, type JsonObject, queries, respellText } from '../../protocol/index.ts'
import type { Engine } from '../engine/index.ts'
import type { TokenIssuer } from '../oauth/index.ts'
import { KEYS_ARE_KEPT_S } from '../outbox/index.ts'
import type { RateLimit } from '../rates.ts'
import type { Readiness } from '../readiness.ts'
import { sendJson, sendJsonText } from './answer.ts'
import { addDescription } from './description-page.ts'
import { createEdgeServer, type EdgeServerOptions, type HttpServer, pathOf } from './edge-server.ts'
import { addSourceRate } from './rates.ts'
import type { RequestLines } from './request-lines.ts'

/** How long receivers keep the keys of webhooks (docs/protocol/webhooks.md#signature-and-keys). */
const CACHE_OF_KEYS = `public, max-age=${KEYS_ARE_KEPT_S}, s-maxage=${KEYS_ARE_KEPT_S}, stale-if-error=604800`

export interface HttpOptions extends EdgeServerOptions {
  readonly engine: Engine
  /** Describes what is served, in OpenAPI's form; called once. */
  readonly describe: () => JsonObject
  /** The keys that webhooks are signed with, as receivers fetch them. */
  readonly webhookKeys: () => JsonObject
  /** The OpenID Connect issuer that the service is. */
  readonly issuer: Pick<TokenIssuer, 'configuration' | 'publishedKeys' | 'keptS'>
  /** How many requests one source address may make. */
  readonly sourceRate?: RateLimit | undefined
  readonly readiness: Readiness
}

/** Creates the HTTP server of the public API; the catalogue gives its routes. It does not listen yet. */
export async function createHttpServer(options: HttpOptions): Promise<HttpServer> {
  const { engine, sourceRate, readiness } = options
  const { server, lines, connections, inFlight, close } = createEdgeServer(options)
  // After CORS: a browser that comes too often must be able to read that.
  if (sourceRate) addSourceRate(server, sourceRate)

  server.get('/healthz', (_request, reply) => sendJson(reply, 200, { status: 'ok' }))
  // A service that ends takes no connection any more: a client learns it from the refused connection.
  server.get('/readyz', async (_request, reply) => {
    const reasons = await readiness.reasons()
    const ready = reasons.length === 0
    reply.header('cache-control', 'no-store')
    return sendJson(reply, ready ? 200 : 503, ready ? { status: 'ready' } : { status: 'not ready', reasons })
  })
  addDescription(server, options.describe)
  server.get('/public/v1/discovery/webhooks/jwks', (_request, reply) =>
    sendJson(reply.header('cache-control', CACHE_OF_KEYS), 200, options.webhookKeys()),
  )
  const { issuer } = options
  const publish = (path: string, document: () => JsonObject) =>
    server.get(path, (_request, reply) =>
      sendJson(reply.header('cache-control', `public, max-age=${issuer.keptS}`), 200, document()),
    )
  publish('/.well-known/openid-configuration', issuer.configuration)
  publish('/.well-known/jwks.json', issuer.publishedKeys)
  for (const path of submitPaths()) {
    server.post(path, async (request, reply) => {
      readiness.checkSubmit()
      return sendJsonText(reply, 200, await engine.submit(toRaw(request, lines)))
    })
  }
  for (const { path } of Object.values(queries)) {
    server.post(path, async (request, reply) => sendJson(reply, 200, await engine.query(toRaw(request, lines))))
  }
  return { server, connections, inFlight, close }
}

/** Every path that requests with a stamp are sent to. */
export function apiPaths(): readonly string[] {
  return [...submitPaths(), ...Object.values(queries).map(({ path }) => path)]
}

/** Every path that activities are submitted to, in both spellings. */
function submitPaths(): readonly string[] {
  const operations = new Set(Object.values(activities).map(({ operation }) => operation))
  const spelled = [...operations].flatMap((operation) => [operation, respellText(operation, 'layer2')])
  return [...new Set(spelled)].map((operation) => `/public/v1/submit/${operation}`)
}

function toRaw(request: FastifyRequest, lines: RequestLines) {
  const body = request.body instanceof Uint8Array ? request.body : new Uint8Array()
  return {
    path: pathOf(request),
    headers: request.headers,
    body,
    source: request.ip || undefined,
    report: lines.reporterOf(request),
  }
}
