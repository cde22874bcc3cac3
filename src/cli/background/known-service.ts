import { readFileSync } from 'node:fs'
import { QuorateError } from '../../diagnostics/index.ts'
import type { PinnedKeys } from '../../session/index.ts'
import { bootstrapPath } from './bootstrap.ts'
import type { Api } from './connect.ts'

/** What is known of the service: its public keys, and where its authentication proxy is. */
export interface KnownService extends PinnedKeys {
  /** The key that client secrets of OAuth 2.0 are encrypted to. */
  readonly tlsFetcherEncryptionPublicKey?: string | undefined
  readonly authProxyUrl?: string | undefined
  readonly authProxyConfigId?: string | undefined
}

/**
 * Reads what is known of a service: out of the file that is given, such as a `bootstrap.json`, or of the embedded service. Nothing
 * is known of another. Throws `cli/unreadable`.
 */
export function readKnownService(
  given: string | undefined,
  { embedded }: Pick<Api, 'embedded'>,
  dataDir: string,
): KnownService {
  const path = given ?? (embedded ? bootstrapPath(dataDir) : undefined)
  if (path === undefined) return {}
  let json: Readonly<Record<string, unknown>>
  try {
    json = Object(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new QuorateError('cli/unreadable', `cannot read the keys of the service in \`${path}\``, { cause })
  }
  const read = (name: keyof KnownService) => (typeof json[name] === 'string' ? json[name] : undefined)
  return {
    notarizerPublicKey: read('notarizerPublicKey'),
    tlsFetcherPublicKey: read('tlsFetcherPublicKey'),
    tlsFetcherEncryptionPublicKey: read('tlsFetcherEncryptionPublicKey'),
    authProxyUrl: read('authProxyUrl'),
    authProxyConfigId: read('authProxyConfigId'),
  }
}
