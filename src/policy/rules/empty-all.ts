import { boundsBeside, findingAt, nodesOf, rootOf } from './clauses.ts'
import type { LintRule } from './rule.ts'

export const emptyAll: LintRule = {
  name: 'empty-all',
  severity: 'warning',
  summary: '`all` is asked of a list that may be empty',
  why: '`all` is true for an empty list: a transaction without transfers satisfies every condition on its transfers.',
  solve: 'ask for `count() > 0` beside it',
  bad: `transfers:
  effect: allow
  consensus: approvers.count() >= 2
  condition: solana.tx.transfers.all(t, t.to == 'a')`,
  good: `transfers:
  effect: allow
  consensus: approvers.count() >= 2
  condition: solana.tx.transfers.count() > 0 && solana.tx.transfers.all(t, t.to == 'a')`,
  check: (input) =>
    [...nodesOf(input)].flatMap((met) => {
      const { node, expression } = met
      if (node.kind !== 'quantifier' || node.method !== 'all') return []
      // The submitter has approved, so neither of these is ever empty; filtered they may be.
      const isVoters = node.target.kind === 'name' && ['approvers', 'credentials'].includes(rootOf(node.target) ?? '')
      const isWritten = node.target.kind === 'list' && node.target.items.length > 0
      const guarded = boundsBeside(met, node.target).some(
        ({ operator, count }) =>
          (operator === '>' && count >= 0n) ||
          (operator === '>=' && count > 0n) ||
          (operator === '==' && count > 0n) ||
          (operator === '!=' && count === 0n),
      )
      if (isVoters || isWritten || guarded) return []
      const list = expression.text.slice(node.target.start, node.target.end)
      return [
        findingAt(met, `\`${list}\` may be empty, and \`all\` is true then`, {
          help: `add \`${list}.count() > 0 &&\``,
        }),
      ]
    }),
}
