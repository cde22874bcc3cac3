/** Where the service's rows are, when it is not a file of its folder: what `serve` and `up` read. */
import { QuorateError } from '../diagnostics/index.ts'
import type { PostgresSettings } from '../service/index.ts'
import { Secret } from '../telemetry/index.ts'
import type { CommandInput } from './command.ts'

/** Names the database, with its password: never a flag, which others on the machine could read. */
const VARIABLE = 'DATABASE_URL'

const NUMBERS = {
  databaseConnections: { flag: '--database-connections', variable: 'QUORATE_DATABASE_CONNECTIONS', most: 1_000 },
  databaseTimeout: { flag: '--database-timeout', variable: 'QUORATE_DATABASE_TIMEOUT', most: 600 },
} as const

/** Reads them; a flag wins over its variable. Undefined without `DATABASE_URL`. Throws `cli/usage`, without the URL. */
export function readDatabase(input: Pick<CommandInput, 'options' | 'environment'>): PostgresSettings | undefined {
  const text = input.environment[VARIABLE]
  if (!text) return undefined
  const url = URL.parse(text)
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || url.pathname.length < 2) {
    throw usage(`expected ${VARIABLE} to be postgresql://user:password@host/name`, `correct ${VARIABLE}`)
  }
  if (!isOnThisMachine(url) && !url.searchParams.has('sslmode')) {
    throw usage(
      `${VARIABLE} names another machine and does not say how the way there is protected`,
      `add ?sslmode=verify-full to ${VARIABLE}, with &sslrootcert=FILE for an authority of your own; ?sslmode=disable where nobody else is on that network`,
    )
  }
  const timeout = readNumber(input, 'databaseTimeout')
  return {
    url: new Secret(text),
    connections: readNumber(input, 'databaseConnections'),
    statementMs: timeout === undefined ? undefined : timeout * 1_000,
  }
}

/** Where the database is, without who asks it and by which password. */
export function renderDatabase({ url }: PostgresSettings): string {
  const { hostname, port, pathname, searchParams } = new URL(url.reveal())
  const host = searchParams.get('host') ?? decodeURIComponent(hostname)
  return `${decodeURIComponent(pathname.slice(1))} at ${host || 'this machine'}${port && `:${port}`}`
}

/** By a socket in a folder, or on the loopback. */
function isOnThisMachine({ hostname, searchParams }: URL): boolean {
  const host = searchParams.get('host') ?? decodeURIComponent(hostname)
  return host === '' || host.startsWith('/') || /^(localhost|127(\.\d+){3}|\[::1\]|::1)$/.test(host)
}

function readNumber(
  { options, environment }: Pick<CommandInput, 'options' | 'environment'>,
  name: keyof typeof NUMBERS,
): number | undefined {
  const { flag, variable, most } = NUMBERS[name]
  const text = options[name] ?? environment[variable]
  if (text === undefined || text === '') return undefined
  const value = /^\d{1,4}$/.test(String(text)) ? Number(text) : 0
  if (value >= 1 && value <= most) return value
  throw usage(
    `expected ${flag} to be a whole number from 1 to ${most}, got \`${text}\``,
    `correct ${flag} or ${variable}`,
  )
}

function usage(message: string, next: string): QuorateError {
  return new QuorateError('cli/usage', message, { next })
}
