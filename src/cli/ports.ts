import { QuorateError } from '../diagnostics/index.ts'

/** Reads a port that an option names; 0 is any free one. Throws `cli/usage`. */
export function readPort(text: unknown, name: string): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,5}$/.test(String(text)) && Number(text) < 65_536) return Number(text)
  throw new QuorateError(
    'cli/usage',
    `expected ${name} to be a number from 0 to 65535, got ${text === '' ? 'nothing' : `\`${text}\``}`,
    {
      next: `give ${name} a number alone, such as 8080, or 0 for a free one`,
    },
  )
}
