import type { CheckVerdict, VerifiedEvidence } from '../../evidence/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'

/** A line a check, and then what came of all of them. */
export const renderVerified = view(({ checks, collector }: VerifiedEvidence, style: Style): string => {
  const paint: Readonly<Record<CheckVerdict, (text: string) => string>> = {
    holds: style.good,
    broken: style.error,
    unknown: style.warning,
  }
  const lines = checks.map(({ what, verdict, said }) => `  ${paint[verdict](verdict.padEnd(7))}  ${what}: ${said}\n`)
  const is = (verdict: CheckVerdict) => checks.filter((one) => one.verdict === verdict).length
  const end =
    is('broken') > 0
      ? 'This evidence is broken.'
      : is('unknown') > 0
        ? `What can be checked holds; ${is('unknown')} of ${checks.length} cannot be told from this file.`
        : 'All of it holds.'
  const trust = collector === undefined ? '' : `People and policies are as the key ${collector} has signed them.\n`
  return `${lines.join('')}\n${style.strong(end)}\n${trust}`
})
