import { NameNotFound, type ResolveHost } from './resolve-host.ts'

/** The result of a look-up: the addresses of a host name, that it has none, or that the resolver did not answer in time. */
export type NameLookup =
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

/** Looks a name up for somebody, an organization for one. Never throws. */
export type LookUpName = (host: string, owner: string) => Promise<NameLookup>

/** How long anybody waits for a name, how many of one owner and of all are waited for at once. */
const LIMITS = { timeoutMs: 4_000, perOwner: 8, total: 64 } as const

/** Bounds a resolver: a name that resolves slowly holds up nobody but its owner, and that not for long. */
export function createNameLookups(resolveHost: ResolveHost): LookUpName {
  const byOwner = new Map<string, number>()
  let total = 0
  return async (host, owner) => {
    const ofOwner = byOwner.get(owner) ?? 0
    if (ofOwner >= LIMITS.perOwner || total >= LIMITS.total) return { kind: 'unknown' }
    byOwner.set(owner, ofOwner + 1)
    total += 1
    const late = Promise.withResolvers<NameLookup>()
    const timer = setTimeout(() => late.resolve({ kind: 'unknown' }), LIMITS.timeoutMs)
    try {
      return await Promise.race([ask(resolveHost, host), late.promise])
    } finally {
      clearTimeout(timer)
      total -= 1
      const left = byOwner.get(owner)! - 1
      if (left === 0) byOwner.delete(owner)
      else byOwner.set(owner, left)
    }
  }
}

async function ask(resolveHost: ResolveHost, host: string): Promise<NameLookup> {
  try {
    const addresses = await resolveHost(host)
    return addresses.length === 0 ? { kind: 'none' } : { kind: 'found', addresses }
  } catch (error) {
    return { kind: error instanceof NameNotFound ? 'none' : 'unknown' }
  }
}
