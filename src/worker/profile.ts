/** Where Temporal is and who asks it, as `@temporalio/envconfig` reads it: `TEMPORAL_…` variables over a profile of a file. */
import { type ClientConnectConfig, loadClientConnectConfig } from '@temporalio/envconfig'
import { messageOf } from '../diagnostics/index.ts'
import { isLoopback } from '../local/index.ts'
import { WorkerError } from './error.ts'

/** Variables; undefined: those of the process, which `@temporalio/envconfig` reads by itself. */
export type TemporalEnvironment = Readonly<Record<string, string | undefined>> | undefined

export const DEFAULT_ADDRESS = 'localhost:7233'

/**
 * Reads the settings of Temporal. Throws `worker/temporal-settings`, and `worker/temporal-in-clear` for a key that everybody on the
 * way to another machine would read.
 */
export function readProfile(environment?: TemporalEnvironment): ClientConnectConfig {
  const profile = load(environment)
  const { address = DEFAULT_ADDRESS, apiKey, metadata, tls } = profile.connectionOptions
  // An API key turns TLS on by itself, but not over a `disabled = true` or a TEMPORAL_TLS that is neither `true` nor `1`. In the
  // metadata nothing turns it on.
  const secret = apiKey ? 'an API key' : hasAuthorization(metadata) ? 'an `authorization` in its metadata' : undefined
  if (secret === undefined || tls || isLoopback(hostOf(address))) return profile
  throw new WorkerError('worker/temporal-in-clear', `${secret} would be sent to \`${address}\` without TLS`, {
    facts: { address, tls: 'none', profile: environment?.['TEMPORAL_PROFILE'], submitted: 'nothing' },
    next: 'set TEMPORAL_TLS=true, or take `disabled = true` out of the `tls` of the profile; if the server has no TLS, leave the key out',
  })
}

function load(environment: TemporalEnvironment): ClientConnectConfig {
  const set = Object.entries(environment ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined)
  try {
    return loadClientConnectConfig(environment && { overrideEnvVars: Object.fromEntries(set) })
  } catch (error) {
    // An unknown profile, a file that cannot be read or is no TOML, a certificate that is not there.
    throw new WorkerError('worker/temporal-settings', 'the settings of Temporal cannot be used', {
      facts: {
        // The first line alone: a parser of TOML shows the lines around its fault, and a key may stand there.
        reason: messageOf(error).split('\n')[0],
        profile: environment?.['TEMPORAL_PROFILE'],
        file: environment?.['TEMPORAL_CONFIG_FILE'],
        submitted: 'nothing',
      },
      cause: error,
    })
  }
}

/** Names of gRPC metadata are in any case. */
function hasAuthorization(metadata: ClientConnectConfig['connectionOptions']['metadata']): boolean {
  return Object.keys(metadata ?? {}).some((name) => name.toLowerCase() === 'authorization')
}

/** The host of `host:port`; of an address in another form, such as gRPC's `dns:///…`, all of it: no host of this machine. */
function hostOf(address: string): string {
  return /^(\[[^\]]+\]|[^:]+)(:\d+)?$/.exec(address)?.[1] ?? address
}
