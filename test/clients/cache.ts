import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where published clients that take minutes to fetch or build are kept from one run to the next. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'quorate/clients')
}
