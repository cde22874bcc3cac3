import { nodesOf } from './clauses.ts'
import type { LintRule } from './rule.ts'

export const unusedTag: LintRule = {
  name: 'unused-tag',
  severity: 'warning',
  summary: 'no policy speaks of a tag',
  why: 'A tag does nothing by itself. One that no policy names gives those who carry it nothing, whatever its name promises.',
  solve: 'name it in a policy, or remove it',
  bad: `exports:
  effect: deny
  condition: activity.action == 'EXPORT'`,
  good: `wallets:
  effect: allow
  consensus: approvers.any(user, user.tags.contains('\${tag.treasury}'))
  condition: activity.kind == 'CREATE_WALLET'`,
  check(input) {
    const named = new Set<string>()
    for (const { node } of nodesOf(input)) if (node.kind === 'string') named.add(node.value)
    return input.tags
      .filter(({ id }) => !named.has(id))
      .map(({ name }) => ({
        at: { tag: name },
        message: `no policy speaks of the tag \`${name}\``,
        help: 'name it in a policy, or remove it',
      }))
  },
}
