/** The HTTP server of the authentication proxy: from a browser's request to one call of one organization. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../../crypto/index.ts'
import { encodeHex } from '../../encoding/index.ts'
import {
  apiError,
  authProxyDocument,
  createDecoder,
  type Json,
  type JsonObject,
  type ProxyEndpointName,
  parseJson,
  proxyEndpoints,
} from '../../protocol/index.ts'
import { addDescription, createEdgeServer, type EdgeServerOptions, type HttpServer, sendJson } from '../http/index.ts'
import type { Sealing } from '../keys/index.ts'
import { sourceOf } from '../network/index.ts'
import { issuerOf, type ProviderUrls } from '../oauth/index.ts'
import type { Voucher } from '../oidc/index.ts'
import { type RateLimit, refuseTooMany } from '../rates.ts'
import { authProxyRefusals } from '../readings.ts'
import { findAuthProxyByConfigId, type NamedAuthProxy } from '../resources/auth-proxy/store.ts'
import { type AuthProxySettings, settingsOf, takesProvedContacts } from '../resources/auth-proxy/wire.ts'
import { findUsersLedTo } from '../resources/users/store.ts'
import type { Database } from '../store/index.ts'
import { OTP_TYPES, readVerificationToken, verifyVerificationToken } from '../verification/index.ts'
import type { ProxyCall } from './call.ts'
import { type Captcha, checkCaptcha } from './captcha.ts'
import { endpoints } from './endpoints.ts'
import { createForwarding } from './forward.ts'
import type { Upstream } from './upstream.ts'
import { expandWallet } from './wallet-form.ts'
import type { Window } from './window.ts'

export interface AuthProxyOptions extends EdgeServerOptions {
  /** Reads what has been committed. */
  readonly read: Database['read']
  readonly unseal: Sealing['unseal']
  readonly upstream: Upstream
  /** Of this proxy; organizations say whether it is asked. */
  readonly captcha?: Captcha | undefined
  /** Where providers are instead of at their public places. */
  readonly providerUrls?: ProviderUrls
  /** Who stands for what an issuer says of e-mail addresses. */
  readonly vouches: (issuer: string) => Voucher | undefined
  /** Requests a second of one source address. */
  readonly rate: RateLimit
  /** Codes of one source address that are too many for this process alone. @default those that the service counts */
  readonly codes?: Window | undefined
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Creates the server; it does not listen yet. */
export async function createAuthProxyServer(options: AuthProxyOptions): Promise<HttpServer> {
  const { read, logger, clock, captcha, vouches } = options
  const { server, allowOrigin, connections, inFlight, close } = createEdgeServer(options)
  const decoder = createDecoder()
  const linkingIssuer = issuerOf('google', options.providerUrls ?? {})
  const forward = createForwarding(options)
  const { rate, codes } = options

  /** Finds the configuration that a request names, and refuses a page that may not ask. */
  async function admit(request: FastifyRequest, reply: FastifyReply) {
    const configId = textOf(request.headers['x-auth-proxy-config-id'])
    if (!configId) throw authProxyRefusals.noConfigId()
    const proxy = UUID.test(configId)
      ? await read((tx) => findAuthProxyByConfigId(tx, configId.toLowerCase()))
      : undefined
    if (!proxy) throw authProxyRefusals.unknownConfigId()
    const settings = settingsOf(proxy)
    checkOrigin(request, reply, settings)
    if (proxy.enabled !== 1 || proxy.has_key !== 1) throw authProxyRefusals.disabled()
    return { proxy, settings }
  }

  /** What is not a page of a browser sends no origin, and could send any. */
  function checkOrigin(request: FastifyRequest, reply: FastifyReply, { allowedOrigins }: AuthProxySettings): void {
    const { origin } = request.headers
    if (allowedOrigins.includes('*') || origin === undefined) return
    const isAllowed = allowedOrigins.includes(origin)
    allowOrigin(request, reply, isAllowed ? origin : undefined)
    if (!isAllowed) throw authProxyRefusals.originNotAllowed()
  }

  function callOf(proxy: NamedAuthProxy, settings: AuthProxySettings, source: string): ProxyCall {
    const organizationId = proxy.organization_id
    return {
      ...forward(proxy),
      organizationId,
      organizationName: proxy.organization_name,
      settings,
      userIdentifier: encodeHex(sha256(`${organizationId} ${source}`)),
      now: clock(),
      linkingIssuer,
      vouches,
      turnstileSiteKey: settings.captchaEnabled ? captcha?.siteKey : undefined,
      readToken: (token) => read((tx) => readVerificationToken({ tx, organizationId, now: clock() }, token)),
      verifyToken: (token) => read((tx) => verifyVerificationToken({ tx, organizationId, now: clock() }, token)),
      findByContact: (type, value) =>
        read(async (tx) => {
          const { column, proof } = OTP_TYPES[type]
          const contact = column === 'email' ? value.toLowerCase() : value
          const within = { parentId: organizationId, isProved: takesProvedContacts(settings) }
          return (await findUsersLedTo(tx, { column, type: proof, contact }, within)).at(-1)?.organization_id
        }),
      countCode() {
        if (codes?.take(`${organizationId} ${source}`) === false) throw apiError('maxOtpInitiated')
      },
    }
  }

  async function answer(name: ProxyEndpointName, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
    const source = sourceOf(request.ip)
    refuseTooMany(rate.take(source))
    const { proxy, settings } = await admit(request, reply)
    const body = decoder.proxy(name, expandWallet(readBody(request)))
    const endpoint = endpoints[name]
    if (settings.captchaEnabled && endpoint.captcha?.(body)) {
      const token = textOf(request.headers['x-captcha-token'])
      await checkCaptcha(captcha, { token, source: request.ip }, logger)
    }
    return endpoint.answer(callOf(proxy, settings, source), body as never)
  }

  server.get('/healthz', (_request, reply) => sendJson(reply, 200, { status: 'ok' }))
  const description = authProxyDocument()
  addDescription(server, () => description)
  for (const { name, path } of Object.values(proxyEndpoints)) {
    server.post(path, async (request, reply) => sendJson(reply, 200, await answer(name, request, reply)))
  }
  return { server, connections, inFlight, close }
}

/** Some clients send no body where there is nothing to say. */
function readBody({ body }: FastifyRequest): Json {
  return body instanceof Uint8Array && body.length > 0 ? parseJson(body) : {}
}

/** A header that was sent twice is none. */
function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}
