import { isIP } from 'node:net'
import { apiError } from '../../protocol/index.ts'
import { createNameLookups, type LookUpName, type NameLookup } from './name-lookups.ts'
import { createPublicAddressTest } from './public-address.ts'
import type { ResolveHost } from './resolve-host.ts'

/**
 * Throws the refusal of a URL that no webhook may be sent to; `field` is what the refusal calls it, `owner` the organization
 * that asks.
 */
export type CheckWebhookUrl = (url: string, field: string, owner: string) => Promise<void>

/** The verdict on a URL: the addresses that may be called, or the rule that forbids a call. */
export type WebhookPlace =
  | { readonly kind: 'open'; readonly url: URL; readonly addresses: readonly string[] }
  | { readonly kind: 'refused'; readonly rule: string }
  /** Its host has no address, at present. */
  | { readonly kind: 'lost'; readonly rule: string }
  /** Whether its host has one could not be found out in time. */
  | { readonly kind: 'unknown'; readonly rule: string }

/** Finds the addresses of a webhook's host. The caller must dial one of them, and not look the name up again. */
export type FindWebhookPlace = (url: string, owner: string) => Promise<WebhookPlace>

const MAX_LENGTH = 2048

/**
 * Creates the rules of webhook URLs (docs/protocol/webhooks.md#url-rules): https, a host and no user in it, and every
 * address of the host public, so that nobody makes the service call its own neighbours. A name may lead elsewhere
 * later: the same rules hold at every attempt.
 * @param allowedHosts hosts, with their port where they have one, that may be private and speak plain http: for development
 * @param openHosts the same, which may become more and fewer
 */
export function createWebhookUrlRules(options: {
  readonly resolveHost: ResolveHost
  readonly allowedHosts: readonly string[]
  readonly openHosts?: ReadonlySet<string>
}): { readonly findPlace: FindWebhookPlace; readonly check: CheckWebhookUrl } {
  const isPublic = createPublicAddressTest()
  const lookUp = createNameLookups(options.resolveHost)
  const allowed = new Set(options.allowedHosts.map((host) => host.toLowerCase()))
  const isAllowed = ({ host, hostname }: URL) =>
    allowed.has(host) || allowed.has(hostname) || options.openHosts?.has(host) === true

  function read(text: string): URL | string {
    if (text.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`
    const url = URL.parse(text)
    if (!url || url.hostname === '') return 'must be an https URL'
    if (url.username !== '' || url.password !== '') return 'must not name a user'
    if (url.protocol !== 'https:' && !(isAllowed(url) && url.protocol === 'http:')) return 'must be an https URL'
    return url
  }

  const findPlace: FindWebhookPlace = async (text, owner) => {
    const url = read(text)
    if (typeof url === 'string') return { kind: 'refused', rule: url }
    // RFC 6761 §6.3: these names are this machine, whatever a resolver says of them.
    const isThisMachine = /(^|\.)localhost\.?$/.test(url.hostname)
    const refused = { kind: 'refused', rule: `must name a public host, not \`${url.hostname}\`` } as const
    if (isThisMachine && !isAllowed(url)) return refused
    const found = await lookUpHost(url.hostname, owner, lookUp)
    if (found.kind === 'none')
      return { kind: 'lost', rule: `must name a host that can be found, not \`${url.hostname}\`` }
    if (found.kind === 'unknown')
      return { kind: 'unknown', rule: `names \`${url.hostname}\`, which was not found in time` }
    const { addresses } = found
    if (isAllowed(url) || addresses.every(isPublic)) return { kind: 'open', url, addresses }
    return refused
  }

  return {
    findPlace,
    async check(text, field, owner) {
      const url = read(text)
      // What is allowed for development need not run yet.
      if (typeof url !== 'string' && isAllowed(url)) return
      const place = await findPlace(text, owner)
      // A name that nobody answers for now may be answered for later: the same request may be sent again.
      if (place.kind === 'unknown') throw apiError('unavailable')
      if (place.kind !== 'open') throw apiError('invalidField', field, place.rule)
    },
  }
}

async function lookUpHost(hostname: string, owner: string, lookUp: LookUpName): Promise<NameLookup> {
  const literal = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(literal) === 0 ? lookUp(hostname, owner) : { kind: 'found', addresses: [literal] }
}
