import { QuorateError } from '../diagnostics/index.ts'
import type { EdgeLimits } from '../service/index.ts'

/** The bounds that `--limit` sets, by the names that people write. */
const NAMES: Readonly<Record<string, (count: number) => Partial<EdgeLimits>>> = {
  connections: (connections) => ({ connections }),
  'connections-per-source': (connectionsPerSource) => ({ connectionsPerSource }),
  'held-mib': (mib) => ({ heldBytes: mib * 1_048_576 }),
  'bytes-per-second': (bytesPerSecond) => ({ bytesPerSecond }),
}

/** Reads the bounds of the service's edge from each `--limit NAME=NUMBER` and `--drain-ms`. Throws `cli/usage`. */
export function readLimits(options: Readonly<Record<string, unknown>>): Partial<EdgeLimits> {
  const texts = Array.isArray(options['limit']) ? options['limit'].map(String) : []
  const drainMs = options['drainMs'] === undefined ? {} : { drainMs: readDrain(String(options['drainMs'])) }
  return Object.assign(drainMs, ...texts.map(readLimit))
}

function readLimit(text: string): Partial<EdgeLimits> {
  const [, name = '', count] = /^([a-z-]+)=([1-9]\d{0,8})$/.exec(text) ?? []
  const limit = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined
  if (limit) return limit(Number(count))
  throw new QuorateError('cli/usage', `expected --limit to be a bound and a whole number, got \`${text}\``, {
    next: `write it as ${Object.keys(NAMES)
      .map((known) => `--limit ${known}=…`)
      .join(', ')}`,
  })
}

function readDrain(text: string): number {
  if (/^[1-9]\d{1,5}$/.test(text)) return Number(text)
  throw new QuorateError('cli/usage', `expected --drain-ms to be a whole number from 10 to 999999, got \`${text}\``, {
    next: 'correct --drain-ms',
  })
}
