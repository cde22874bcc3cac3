import { findingAt, nodesOf, rootOf, textComparison } from './clauses.ts'
import type { LintRule } from './rule.ts'

export const negatedFunctionName: LintRule = {
  name: 'negated-function-name',
  severity: 'warning',
  summary: 'an ALLOW excludes a contract function by its name',
  why: 'Without an uploaded interface, and for a selector that the interface does not have, the name is empty: it differs from every name, and the call is allowed.',
  solve: 'name the functions that are allowed',
  bad: `calls:
  effect: allow
  consensus: approvers.count() >= 2
  condition: eth.tx.function_name != 'approve'`,
  good: `calls:
  effect: allow
  consensus: approvers.count() >= 2
  condition: eth.tx.function_name in ['transfer', 'deposit']`,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      if (met.policy.effect !== 'allow') return []
      const comparison = textComparison(met.node)
      if (comparison?.value.kind !== 'member') return []
      const { text } = comparison.value.name
      const isName = (text === 'function_name' || text === 'function_signature') && rootOf(comparison.value) === 'eth'
      const isNegated = met.around.filter(({ kind }) => kind === 'not').length % 2 === (comparison.equal ? 1 : 0)
      if (!isName || !isNegated || comparison.texts.some(({ value }) => value === '')) return []
      return [
        findingAt(met, `\`${text}\` is empty without an interface, and differs from every name then`, {
          help: 'name the functions that are allowed',
        }),
      ]
    }),
}
