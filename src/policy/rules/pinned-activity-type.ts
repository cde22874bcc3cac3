import { activities, activityRow } from '../../protocol/catalogue.ts'
import type { ActivityRow } from '../../protocol/index.ts'
import { findingAt, type Met, nodesOf, textComparison } from './clauses.ts'
import type { Finding, LintRule } from './rule.ts'

export const pinnedActivityType: LintRule = {
  name: 'pinned-activity-type',
  severity: 'error',
  summary: 'a policy names one version of an activity',
  why: 'A condition on `activity.type` stops matching when clients move on to a newer version of the activity, and anybody may ask for an older one. An ALLOW then no longer allows; a DENY no longer denies. A DENY of all but every version that there is denies new ones too, and is not found.',
  solve: 'compare `activity.kind`, which is the same for all versions',
  bad: `signing:
  effect: deny
  condition: activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'`,
  good: `signing:
  effect: deny
  condition: activity.kind == 'SIGN_TRANSACTION'`,
  fixable: true,
  check(input) {
    const findings: Finding[] = []
    for (const met of nodesOf(input)) {
      const comparison = textComparison(met.node)
      if (comparison === undefined) continue
      const { value, texts } = comparison
      if (value.kind !== 'member' || value.name.text !== 'type' || value.target.kind !== 'name') continue
      if (value.target.name !== 'activity') continue
      const rows = texts.map((text) => activityRow(text.value))
      const kinds = [...new Set(rows.map((row) => row?.kind))]
      // An activity without a kind, or no activity at all, cannot be named otherwise.
      if (kinds.some((kind) => kind === undefined)) continue
      if (deniesOthers(met, comparison.equal) && new Set(rows).size === versionsOf(kinds).length) continue
      const words = kinds.map((kind) => `'${kind}'`)
      const isList = met.node.kind !== 'compare' || met.node.operator === 'in'
      const operator = met.node.kind === 'compare' ? met.node.operator : 'in'
      const text = `activity.kind ${operator} ${isList ? `[${words.join(', ')}]` : words[0]}`
      findings.push(
        findingAt(met, `this pins ${texts.length === 1 ? 'a version' : 'versions'} of ${words.join(', ')}`, {
          help: `write \`${text}\``,
          ...(rows.every(isOnlyVersion) ? { fix: { start: met.node.start, end: met.node.end, text } } : {}),
        }),
      )
    }
    return findings
  },
}

/** Where a kind has no other version the two say the same. */
function isOnlyVersion(row: ActivityRow | undefined): boolean {
  return versionsOf([row?.kind]).length === 1
}

function versionsOf(kinds: readonly (string | undefined)[]): readonly ActivityRow[] {
  return Object.values(activities).filter(({ kind }) => kinds.includes(kind))
}

/** Whether a DENY denies whatever a comparison does not name: a version that is new tomorrow is denied as well. */
function deniesOthers({ policy, around }: Met, equal: boolean): boolean {
  if (policy.effect !== 'deny' || around.some(({ kind }) => kind !== 'not' && kind !== 'logic')) return false
  return (around.filter(({ kind }) => kind === 'not').length % 2 === 0) !== equal
}
