import { QuorateError } from '../diagnostics/index.ts'

/** Reads a port that an option names; 0 is any free one. Throws `cli/usage`. */
export function readPort(text: unknown, name: string): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw new QuorateError('cli/usage', `expected ${name} to be a number from 0 to 65535, got \`${text}\``, {
    next: `correct ${name}`,
  })
}
