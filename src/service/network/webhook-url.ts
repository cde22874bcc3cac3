import { isIP } from 'node:net'
import { apiError } from '../../protocol/index.ts'
import { createPublicAddressTest } from './public-address.ts'

/** Finds the addresses of a host name; throws when there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>

/** Throws the refusal of a URL that no webhook may be sent to; `field` is what the refusal calls it. */
export type CheckWebhookUrl = (url: string, field: string) => Promise<void>

const MAX_LENGTH = 2048

/**
 * Creates the check of webhook URLs (facts: webhooks §8): https, a host and no user in it, and every address of the host
 * public, so that nobody makes the service call its own neighbours. What was checked here may resolve to something else
 * later: whoever dials must check the address that is dialled.
 * @param allowedHosts hosts, with their port where they have one, that may be private and speak plain http: for development
 */
export function createWebhookUrlCheck(options: {
  readonly resolveHost: ResolveHost
  readonly allowedHosts: readonly string[]
}): CheckWebhookUrl {
  const isPublic = createPublicAddressTest()
  const allowed = new Set(options.allowedHosts.map((host) => host.toLowerCase()))
  return async (text, field) => {
    const refuse = (rule: string) => apiError('invalidField', field, rule)
    if (text.length > MAX_LENGTH) throw refuse(`must have at most ${MAX_LENGTH} characters`)
    const url = URL.parse(text)
    if (!url || url.hostname === '') throw refuse('must be an https URL')
    if (url.username !== '' || url.password !== '') throw refuse('must not name a user')
    const isAllowed = allowed.has(url.host) || allowed.has(url.hostname)
    if (url.protocol !== 'https:' && !(isAllowed && url.protocol === 'http:')) throw refuse('must be an https URL')
    if (isAllowed) return
    const addresses = await resolve(url.hostname, options.resolveHost)
    if (addresses.length === 0) throw refuse(`must name a host that can be found, not \`${url.hostname}\``)
    if (!addresses.every(isPublic)) throw refuse(`must name a public host, not \`${url.hostname}\``)
  }
}

async function resolve(hostname: string, resolveHost: ResolveHost): Promise<readonly string[]> {
  const literal = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  if (isIP(literal) !== 0) return [literal]
  // RFC 6761 §6.3: these names are this machine, whatever a resolver says of them.
  if (/(^|\.)localhost\.?$/.test(hostname)) return ['127.0.0.1']
  try {
    return await resolveHost(hostname)
  } catch {
    return []
  }
}
