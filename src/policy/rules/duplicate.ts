import { print } from '../print.ts'
import { conjuncts, holdsAlways } from './clauses.ts'
import type { LintExpression, LintPolicy, LintRule } from './rule.ts'

export const duplicate: LintRule = {
  name: 'duplicate-policy',
  severity: 'warning',
  summary: 'two policies say the same',
  why: 'A person who changes one of them will think that the change took effect.',
  solve: 'remove one of the two',
  bad: `one:
  effect: deny
  condition: activity.action == 'EXPORT' && activity.resource == 'WALLET'
two:
  effect: deny
  condition: activity.resource == 'WALLET' && activity.action == 'EXPORT'`,
  good: `one:
  effect: deny
  condition: activity.action == 'EXPORT' && activity.resource == 'WALLET'`,
  check({ policies }) {
    const first = new Map<string, string>()
    return policies.flatMap((policy) => {
      const said = whatItSays(policy)
      const other = first.get(said)
      if (other === undefined) {
        first.set(said, policy.name)
        return []
      }
      return [
        {
          at: { policy: policy.name },
          message: `\`${policy.name}\` says the same as \`${other}\``,
          related: { policy: other, message: 'this says the same' },
          help: 'remove one of the two',
        },
      ]
    })
  },
}

/** The order of clauses does not matter, nor does a field that holds always. */
function whatItSays({ effect, fields }: LintPolicy): string {
  const said = (expression: LintExpression | undefined) =>
    holdsAlways(expression) ? [] : conjuncts(expression?.tree).map(print).sort()
  return JSON.stringify([effect, said(fields.consensus), said(fields.condition), said(fields.time)])
}
