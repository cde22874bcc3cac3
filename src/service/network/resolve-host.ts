/**
 * The addresses of a host name, by a resolver of the service's own. Node's `dns.lookup` runs in the four threads that
 * files and cryptography wait for as well, so that four slow names would stop both; it cannot be told to give up either.
 */
import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

/** Finds the addresses of a host name. Throws `NameNotFound` when it has none, anything else when that is not known. */
export type ResolveHost = (host: string) => Promise<readonly string[]>

/** The name has no address: nobody is asked again. */
export class NameNotFound extends Error {
  override readonly name = 'NameNotFound'
}

const ATTEMPT = { timeout: 1_500, tries: 2 } as const

/** Error codes of a resolver for a name without an address. */
const NO_ADDRESS: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Creates a resolver that asks the machine's name servers, after its file of hosts.
 * @param options.servers addresses with ports @default those of the machine, as they are at each question
 */
export function createResolveHost(
  options: { readonly servers?: readonly string[]; readonly hostsFile?: string } = {},
): ResolveHost {
  const { servers, hostsFile = '/etc/hosts' } = options
  return async (host) => {
    const listed = findInHosts(await readFile(hostsFile, 'utf8').catch(() => ''), host)
    if (listed.length > 0) return listed
    const resolver = new Resolver(ATTEMPT)
    if (servers) resolver.setServers(servers)
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const unknown = answers.find((answer) => answer.status === 'rejected' && !isNoAddress(answer.reason))
    // Half an answer is none: the address that is missing may be the one that is not public.
    if (unknown?.status === 'rejected') throw unknown.reason
    if (found.length === 0) throw new NameNotFound(`\`${host}\` has no address`)
    return found
  }
}

function isNoAddress(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NO_ADDRESS.has(String(error.code))
}

/** The addresses of a name in a file of hosts (hosts(5)). */
function findInHosts(text: string, host: string): string[] {
  const wanted = host.toLowerCase().replace(/\.$/, '')
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.split('#', 1)[0]!.trim().split(/\s+/)
    return isIP(address) !== 0 && names.some((name) => name.toLowerCase() === wanted) ? [address] : []
  })
}
