import type { CheckVerdict, VerifiedEvidence } from '../../evidence/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'

/**
 * A line a check, and then what came of all of them.
 * @param named the collector's key, where the reader named it; any other is for the reader to compare
 */
export const renderVerified = view(({ checks, collector }: VerifiedEvidence, style: Style, named: boolean): string => {
  const paint: Readonly<Record<CheckVerdict, (text: string) => string>> = {
    holds: style.good,
    broken: style.error,
    unknown: style.warning,
  }
  const lines = checks.map(({ what, verdict, said }) => `  ${paint[verdict](verdict.padEnd(7))}  ${what}: ${said}\n`)
  const is = (verdict: CheckVerdict) => checks.filter((one) => one.verdict === verdict).length
  const end =
    is('broken') > 0
      ? 'This evidence is broken (exit code 1): do not rely on it.'
      : is('unknown') > 0
        ? `Nothing is broken, and ${is('unknown')} of ${checks.length} checks cannot be made with this file (exit code 6).`
        : 'All of it holds.'
  return `${lines.join('')}\n${style.strong(end)}\n${trustText(collector, named)}`
})

/** On whose word people and policies are taken: whose key that is, no file can say. */
function trustText(collector: string | undefined, named: boolean): string {
  if (collector === undefined) return ''
  if (named) return 'People and policies are as the key that you named with --collector has signed them.\n'
  return `People and policies are as the collector's key has signed them. Ask the collector whether it is theirs, or name it with --collector:\n  ${collector}\n`
}
