import { findingAt, nodesOf, textComparison } from './clauses.ts'
import type { LintRule } from './rule.ts'

export const listInTypedData: LintRule = {
  name: 'list-in-typed-data',
  severity: 'error',
  summary: 'a text of a typed-data message is looked for in a list',
  why: 'The documentation says that `in` takes only whole numbers there, and asks for `||` with texts.',
  solve: 'join comparisons with `||`',
  bad: `permit:
  effect: deny
  condition: eth.eip_712.message['spender'] in ['0xaa', '0xbb']`,
  good: `permit:
  effect: deny
  condition: eth.eip_712.message['spender'] == '0xaa' || eth.eip_712.message['spender'] == '0xbb'`,
  fixable: true,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      const comparison = textComparison(met.node)
      const isList = met.node.kind === 'method' || (met.node.kind === 'compare' && met.node.operator === 'in')
      if (comparison === undefined || !isList) return []
      const type = met.expression.types.get(comparison.value)
      if (type?.kind !== 'dynamic' || type.origin !== 'eip-712') return []
      const value = met.expression.text.slice(comparison.value.start, comparison.value.end)
      const text = comparison.texts.map((one) => `${value} == '${one.value}'`).join(' || ')
      const { start, end } = met.node
      return [
        findingAt(met, '`in` takes no texts of a typed-data message', {
          help: `write \`${text}\``,
          fix: { start, end, text: `(${text})` },
        }),
      ]
    }),
}
