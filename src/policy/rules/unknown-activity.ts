import { suggest } from '../../diagnostics/index.ts'
import { activities, activityActions, activityKinds, activityResources, activityRow } from '../../protocol/catalogue.ts'
import { findingAt, nodesOf, textComparison } from './clauses.ts'
import type { LintRule } from './rule.ts'

const words: Readonly<Record<string, readonly string[]>> = {
  type: Object.keys(activities),
  kind: activityKinds,
  resource: activityResources,
  action: activityActions,
}

export const unknownActivity: LintRule = {
  name: 'unknown-activity',
  severity: 'error',
  summary: 'the activity is compared with a word that no activity has',
  why: 'The comparison is false for every request. An ALLOW allows nothing; a DENY denies nothing.',
  solve:
    'write the word that an activity has (docs/policy-language.md, "Kinds of activities"); one newer than that table is suppressed by a comment',
  bad: `export:
  effect: deny
  condition: activity.kind == 'EXPORT_WALLETS'`,
  good: `export:
  effect: deny
  condition: activity.kind == 'EXPORT_WALLET'`,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      const comparison = textComparison(met.node)
      if (comparison?.value.kind !== 'member' || comparison.value.target.kind !== 'name') return []
      const { target, name } = comparison.value
      if (target.kind !== 'name' || target.name !== 'activity' || !Object.hasOwn(words, name.text)) return []
      const known = words[name.text]!
      const isKnown = (word: string) =>
        known.includes(word) ||
        (name.text === 'type' ? activityRow(word) : activityRow(`ACTIVITY_TYPE_${word}`)) !== undefined
      return comparison.texts
        .filter(({ value }) => !isKnown(value))
        .map((node) => {
          const near = suggest(node.value, known, 3).map((word) => `\`${word}\``)
          return findingAt({ ...met, node }, `no activity has the ${name.text} \`${node.value}\``, {
            ...(near.length === 0 ? {} : { help: `did you mean ${near.join(' or ')}?` }),
          })
        })
    }),
}
