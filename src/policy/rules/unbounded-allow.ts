import { holdsAlways } from './clauses.ts'
import type { LintPolicy, Rule } from './rule.ts'

const isAllow = ({ effect }: LintPolicy) => effect === 'allow'

export const allowsEverything: Rule = {
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
      .filter(isAllow)
      .filter(({ fields }) => holdsAlways(fields.consensus) && holdsAlways(fields.condition))
      .map(({ name }) => ({
        at: { policy: name },
        message: `\`${name}\` lets every user do everything`,
        help: 'add a `consensus` and a `condition`',
      })),
}

export const allowsAnybody: Rule = {
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
      .filter(isAllow)
      .filter(({ fields }) => holdsAlways(fields.consensus) && !holdsAlways(fields.condition))
      .map(({ name }) => ({
        at: { policy: name },
        message: `\`${name}\` lets any user do it alone`,
        help: 'add a `consensus`',
      })),
}

export const allowsAnything: Rule = {
  name: 'allow-anything',
  severity: 'warning',
  summary: 'an ALLOW has no condition',
  why: 'Those who satisfy its consensus may do everything that is not denied, the writing of policies and the export of keys included.',
  solve: 'say which activities it is about',
  bad: `admins:
  effect: allow
  consensus: approvers.any(user, user.tags.contains('\${tag.treasury}'))`,
  good: `admins:
  effect: allow
  consensus: approvers.any(user, user.tags.contains('\${tag.treasury}'))
  condition: activity.resource == 'USER' && activity.action == 'CREATE'`,
  check: ({ policies }) =>
    policies
      .filter(isAllow)
      .filter(({ fields }) => !holdsAlways(fields.consensus) && holdsAlways(fields.condition))
      .map(({ name }) => ({
        at: { policy: name },
        message: `\`${name}\` covers every activity`,
        help: 'add a `condition`',
      })),
}
