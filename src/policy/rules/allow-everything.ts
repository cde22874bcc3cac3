import { holdsAlways } from './clauses.ts'
import type { LintRule } from './rule.ts'

export const allowsEverything: LintRule = {
  name: 'allow-everything',
  severity: 'error',
  summary: 'an ALLOW has neither consensus nor condition',
  why: 'It lets every user do everything that is not denied: sign, export keys, write policies.',
  solve: 'say who must approve and what it is about',
  bad: 'all: { effect: allow }',
  good: `wallets:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.kind == 'CREATE_WALLET'`,
  check: ({ policies }) =>
    policies
      .filter(({ effect }) => effect === 'allow')
      .filter(({ fields }) => holdsAlways(fields.consensus) && holdsAlways(fields.condition))
      .map(({ name }) => ({
        at: { policy: name },
        message: `\`${name}\` lets every user do everything`,
        help: 'add a `consensus` and a `condition`',
      })),
}
