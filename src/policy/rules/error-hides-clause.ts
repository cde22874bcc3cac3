import { findingAt, nodesOf } from './clauses.ts'
import type { LintRule } from './rule.ts'
import { allWorlds, truth, truthOf } from './worlds.ts'

export const errorHidesClause: LintRule = {
  name: 'error-hides-clause',
  severity: 'warning',
  summary: 'one side of an `||` errs on requests that the other side is meant for',
  why: 'Both sides of `||` are always evaluated, and an error on either makes the whole policy an error: a DENY that errs does not deny.',
  solve: 'make two policies, one for each side',
  bad: `export:
  effect: deny
  condition: activity.action == 'EXPORT' || wallet.label == 'vault'`,
  good: `export:
  effect: deny
  condition: activity.action == 'EXPORT'
vault:
  effect: deny
  condition: wallet.label == 'vault'`,
  check(input) {
    const worlds = allWorlds()
    return [...nodesOf(input)].flatMap((met) => {
      const { node, expression, field, policy } = met
      if (field !== 'condition' || node.kind !== 'logic' || node.operator !== '||') return []
      const lost = worlds.find((world) => {
        const truths = node.operands.map((operand) => truth(operand, world, expression))
        return truths.includes('error') && truths.includes('true')
      })
      // Where the policy errs everywhere, that is said already.
      const isDead = worlds.every((world) => ['error', 'false'].includes(truthOf(policy, world)))
      if (lost === undefined || isDead) return []
      const unreadable = node.operands.find((operand) => truth(operand, lost, expression) === 'error')!
      const text = expression.text.slice(unreadable.start, unreadable.end)
      return [
        findingAt(met, `on \`${lost.row.kind}\` this is an error, because \`${text}\` cannot be read there`, {
          help: 'make two policies, one for each side',
        }),
      ]
    })
  },
}
