import { generateP256KeyPair } from '../../../src/crypto/index.ts'
import type { JsonObject } from '../../../src/protocol/index.ts'
import type { ServiceOptions } from '../../../src/service/index.ts'
import { complete } from '../handlers/steps.ts'
import { startTestService, type TestService } from '../harness.ts'

/** What a proxy answered. */
export interface ProxyAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: JsonObject
}

/** A service with an authentication proxy that is on, and requests to it. */
export interface ProxyStage extends TestService {
  readonly proxyUrl: string
  readonly configId: string
  /** Posts as from an address of its own; a header that is undefined is not sent. */
  post(
    endpoint: string,
    body: object | string | undefined,
    headers?: Readonly<Record<string, string | undefined>>,
  ): Promise<ProxyAnswer>
  /** Changes settings. */
  set(settings: object): Promise<void>
}

let addresses = 0

/** Starts a service that believes this machine about where requests come from. */
export async function startProxyStage(options: Partial<ServiceOptions> = {}): Promise<ProxyStage> {
  const service = await startTestService({ trustedProxies: ['127.0.0.1'], proxy: {}, ...options })
  await complete(service.root, 'ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
  const { authProxyUrl, authProxyConfigId: configId } = service.service.bootstrap
  return {
    ...service,
    proxyUrl: authProxyUrl!,
    configId,
    async post(endpoint, body, headers = {}) {
      addresses += 1
      const from = `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`
      const all = { 'x-auth-proxy-config-id': configId, 'x-forwarded-for': from, ...headers }
      const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
      const text = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
      const answer = await fetch(`${authProxyUrl}/v1/${endpoint}`, { method: 'POST', headers: sent, ...text })
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as JsonObject }
    },
    async set(settings) {
      await complete(service.root, 'ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG', settings)
    },
  }
}

/** What a refusal of the proxy says: status, code, message. */
export function said({ status, body }: ProxyAnswer): readonly [status: number, code: unknown, message: unknown] {
  return [status, body['code'], body['message']]
}

/** A sign-up by one new P-256 key. */
export function newSignUp(overrides: object = {}) {
  const { publicKey } = generateP256KeyPair()
  const apiKeys = [{ apiKeyName: 'browser', publicKey, curveType: 'API_KEY_CURVE_P256', expirationSeconds: '60' }]
  return { userName: 'ada', organizationName: 'home', apiKeys, authenticators: [], oauthProviders: [], ...overrides }
}
