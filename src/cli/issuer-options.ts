/** The options about OIDC issuers, which `serve` and `proxy` share. */
import { QuorateError } from '../diagnostics/index.ts'
import { type IssuerSettings, ON_RAMP_NAMES, type OnRampUrls, PROVIDER_NAMES } from '../service/index.ts'
import type { CommandInput } from './command.ts'

interface OnRamps {
  readonly onRampUrls: OnRampUrls
}

/** Reads them. Throws `cli/usage`. */
export function readIssuerOptions({ options }: Pick<CommandInput, 'options'>): Required<IssuerSettings> & OnRamps {
  return {
    privateIssuers: listOf(options['privateIssuer']),
    vouchingIssuers: listOf(options['vouchingIssuer']).map((text) => {
      // As it is written: a slash at its end is a part of its name.
      readBaseUrl(text, '--vouching-issuer')
      return text
    }),
    ...readProviders(listOf(options['provider'])),
  }
}

/** `--provider discord=http://127.0.0.1:9000`, one for each. */
function readProviders(texts: readonly string[]): Required<Pick<IssuerSettings, 'providerUrls'>> & OnRamps {
  const known = new Set<string>([...PROVIDER_NAMES, ...ON_RAMP_NAMES])
  const read = texts.map((text) => {
    const [name = '', url] = text.split(/=(.*)/s)
    if (!known.has(name)) {
      throw new QuorateError('cli/usage', `expected --provider to name ${[...known].join(', ')}, got \`${name}\``, {
        next: 'write it as --provider discord=https://discord.acme.test',
      })
    }
    return [name, readBaseUrl(url, '--provider')] as const
  })
  const isOnRamp = ([name]: readonly [string, string]) => (ON_RAMP_NAMES as readonly string[]).includes(name)
  return {
    providerUrls: Object.fromEntries(read.filter((one) => !isOnRamp(one))),
    onRampUrls: Object.fromEntries(read.filter(isOnRamp)),
  }
}

/** A URL that paths are put behind: without a slash at its end. */
export function readBaseUrl(text: unknown, name: string): string {
  const url = URL.parse(String(text))
  const isBare = url && !url.username && !url.password && !url.search && !url.hash
  if (isBare && /^https?:$/.test(url.protocol)) return url.href.replace(/\/$/, '')
  throw new QuorateError('cli/usage', `expected ${name} to have an http or https URL without user, query or fragment`, {
    next: `correct ${name}`,
  })
}

/** Every use of an option that may be repeated. */
export function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
