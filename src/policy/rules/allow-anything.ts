import { holdsAlways } from './clauses.ts'
import type { LintRule } from './rule.ts'

export const allowsAnything: LintRule = {
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
      .filter(({ effect }) => effect === 'allow')
      .filter(({ fields }) => !holdsAlways(fields.consensus) && holdsAlways(fields.condition))
      .map(({ name }) => ({
        at: { policy: name },
        message: `\`${name}\` covers every activity`,
        help: 'add a `condition`',
      })),
}
