import { childrenOf, type Expression } from '../ast.ts'
import { compile } from '../evaluate.ts'
import { createFrame } from '../frame.ts'
import { findingAt } from './clauses.ts'
import type { LintExpression, LintInput, LintRule, LintUser } from './rule.ts'

/** Most users of whom every set is tried, where more approvers can make a consensus false. */
const MOST_USERS = 12

export const unreachableThreshold: LintRule = {
  name: 'unreachable-threshold',
  severity: 'error',
  summary: 'no set of users can satisfy a consensus',
  why: 'An ALLOW that nobody can satisfy leaves its activities waiting for ever; a DENY that nobody satisfies denies nothing.',
  solve: 'lower the number, or give more users the tag',
  bad: `payments:
  effect: allow
  consensus: approvers.filter(user, user.tags.contains('\${tag.treasury}')).count() >= 5
  condition: activity.kind == 'SIGN_TRANSACTION'`,
  good: `payments:
  effect: allow
  consensus: approvers.filter(user, user.tags.contains('\${tag.treasury}')).count() >= 2
  condition: activity.kind == 'SIGN_TRANSACTION'`,
  check(input) {
    if (input.users.length === 0) return []
    return input.policies.flatMap((policy) => {
      const { consensus } = policy.fields
      if (consensus === undefined || !isDecidable(consensus, input)) return []
      if (someSetOf(input.users, consensus)) return []
      return [
        findingAt(
          { policy, field: 'consensus', node: consensus.tree },
          'no set of the users that are defined satisfies this',
          {
            help: 'lower the number, or give more users the tag',
          },
        ),
      ]
    })
  },
}

/** Whether all that it asks of approvers is known from the definitions: not their credentials, nor who is not in them. */
function isDecidable({ tree }: LintExpression, { users, tags }: LintInput): boolean {
  const known = new Set([...users.flatMap(({ id, email }) => [id, email]), ...tags.map(({ id }) => id)])
  const visit = (node: Expression): boolean => {
    if (node.kind === 'name' && node.name === 'credentials') return false
    if (node.kind === 'member' && node.name.text === 'alias') return false
    if (node.kind === 'string' && !known.has(node.value)) return false
    return childrenOf(node).every(visit)
  }
  return visit(tree)
}

function someSetOf(users: readonly LintUser[], consensus: LintExpression): boolean {
  const evaluate = compile(consensus, consensus.tree, undefined)
  const holds = (approvers: readonly LintUser[]) =>
    evaluate(createFrame({ now: 0n, activity: { type: 'ACTIVITY_TYPE_CREATE_WALLET' }, approvers })) === true
  if (holds(users) || users.some((user) => holds([user]))) return true
  // Of a consensus that asks for more, everybody is the most that there is.
  if (isMonotone(consensus.tree)) return false
  if (users.length > MOST_USERS) return true
  for (let set = 1; set < 2 ** users.length; set++)
    if (holds(users.filter((_, index) => (set >> index) & 1))) return true
  return false
}

/** Whether one more approver can never make it false: nothing is negated, and counts are only bounded from below. */
function isMonotone(node: Expression): boolean {
  switch (node.kind) {
    case 'not':
      return false
    case 'compare':
      return isCount(node.left) ? node.operator === '>=' || node.operator === '>' : false
    case 'quantifier':
      return node.method !== 'all'
    case 'logic':
      return node.operands.every(isMonotone)
    default:
      return true
  }
}

function isCount(node: Expression): boolean {
  return (node.kind === 'method' || node.kind === 'member') && node.name.text === 'count'
}
