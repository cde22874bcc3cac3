/** Where a server listens, and whether the way there is encrypted: `serve` and `proxy`. */
import { isIP } from 'node:net'
import { QuorateError } from '../diagnostics/index.ts'
import { isLoopback } from '../local/index.ts'
import type { ServiceOptions } from '../service/index.ts'
import type { CommandInput } from './command.ts'

/**
 * Reads `--listen`, `--tls-cert`, `--tls-key` and `--plain-http`. @default the loopback, over plain HTTP. Throws `cli/usage`:
 * anybody on the way would read codes, tokens and what is asked, so that plain HTTP for others is to be said twice.
 */
export function readListening({ options }: Pick<CommandInput, 'options'>): Pick<ServiceOptions, 'host' | 'tls'> {
  const [host = '127.0.0.1', certificate, key] = ['listen', 'tlsCert', 'tlsKey'].map((name) =>
    options[name] === undefined ? undefined : String(options[name]),
  )
  if (isIP(host) === 0) {
    throw usage(
      `expected --listen to be an IP address of this machine, got \`${host}\``,
      'give 127.0.0.1 for this machine alone, 0.0.0.0 for all of its addresses; the port goes to --port',
    )
  }
  if ((certificate === undefined) !== (key === undefined)) {
    const [given, lacking] = certificate === undefined ? ['--tls-key', '--tls-cert'] : ['--tls-cert', '--tls-key']
    throw usage(`${given} was given without ${lacking}`, `give ${lacking} too`)
  }
  if (certificate !== undefined && options['plainHttp']) {
    throw usage('--plain-http was given together with a certificate', 'leave one of them out')
  }
  if (certificate !== undefined && key !== undefined) return { host, tls: { certificate, key } }
  if (!isLoopback(host) && !options['plainHttp']) {
    throw usage(
      `--listen ${host} would let others reach the service over plain HTTP`,
      'give --tls-cert and --tls-key; or --plain-http as well, where a proxy in front of it encrypts',
    )
  }
  return { host }
}

/** Has SIGHUP read the certificate again, where there is one; otherwise the signal ends the process, as ever. */
export function reloadOnHangUp({ reloadTls }: { readonly reloadTls?: () => void }): void {
  if (reloadTls) process.on('SIGHUP', reloadTls)
}

function usage(message: string, next: string): QuorateError {
  return new QuorateError('cli/usage', message, { next })
}
