import { holdsAlways } from './clauses.ts'
import type { LintRule } from './rule.ts'

export const allowsAnybody: LintRule = {
  name: 'allow-anybody',
  severity: 'warning',
  summary: 'an ALLOW has no consensus',
  why: 'Any user may do alone what its condition covers, also one who joins later.',
  solve: 'say who must approve; where anybody is meant, suppress the rule and say why',
  bad: `wallets:
  effect: allow
  condition: activity.kind == 'CREATE_WALLET'`,
  good: `wallets:
  effect: allow
  consensus: approvers.any(user, user.tags.contains('\${tag.treasury}'))
  condition: activity.kind == 'CREATE_WALLET'`,
  check: ({ policies }) =>
    policies
      .filter(({ effect }) => effect === 'allow')
      .filter(({ fields }) => holdsAlways(fields.consensus) && !holdsAlways(fields.condition))
      .map(({ name }) => ({
        at: { policy: name },
        message: `\`${name}\` lets any user do it alone`,
        help: 'add a `consensus`',
      })),
}
