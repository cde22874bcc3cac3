import { QuorateError } from '../diagnostics/index.ts'

/** Milliseconds of each unit. */
const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 }

/** `24h`, `1d12h`, `90s`, `0` in milliseconds. Throws `cli/usage`. */
export function parseDuration(text: string, option: string): number {
  if (text === '0') return 0
  if (/^(?:\d{1,6}[dhms])+$/.test(text)) {
    const parts = [...text.matchAll(/(\d+)([dhms])/g)]
    return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit as keyof typeof UNITS], 0)
  }
  throw new QuorateError('cli/usage', `${option}: expected a time such as 24h, 1d12h or 0, got \`${text}\``, {
    facts: { submitted: 'nothing' },
    next: 'correct the time',
  })
}
