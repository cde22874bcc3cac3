import { boundsBeside, findingAt, nodesOf, rootOf } from './clauses.ts'
import type { LintRule } from './rule.ts'

export const freeIndex: LintRule = {
  name: 'free-index',
  severity: 'warning',
  summary: 'one element of a list is checked, and the others are left free',
  why: 'A condition on the first instruction or output says nothing about the second. The builder of the transaction may add another.',
  solve: 'check every element with `all`, or ask for `count() == 1` beside it',
  bad: `calls:
  effect: allow
  consensus: approvers.count() >= 2
  condition: tempo.tx.calls[0].to == '0xab'`,
  good: `calls:
  effect: allow
  consensus: approvers.count() >= 2
  condition: tempo.tx.calls.count() == 1 && tempo.tx.calls[0].to == '0xab'`,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      const { node, expression } = met
      if (node.kind !== 'index' || node.index.kind !== 'int') return []
      if (expression.types.get(node.target)?.kind !== 'list') return []
      // A Tron transaction has one contract, and is documented to be read by this index.
      if (rootOf(node) === 'tron' && node.target.kind === 'member' && node.target.name.text === 'contract') return []
      const highest = node.index.value
      const bounded = boundsBeside(met, node.target).some(
        ({ operator, count }) =>
          ((operator === '==' || operator === '<=') && count <= highest + 1n) ||
          (operator === '<' && count <= highest + 2n),
      )
      if (bounded) return []
      const list = expression.text.slice(node.target.start, node.target.end)
      return [
        findingAt(met, `this checks one element of \`${list}\` and leaves the others free`, {
          help: `use \`${list}.all(…)\`, or add \`${list}.count() == ${highest + 1n} &&\``,
        }),
      ]
    }),
}
