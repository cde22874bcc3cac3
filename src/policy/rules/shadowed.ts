import type { Expression } from '../ast.ts'
import { print } from '../print.ts'
import { conjuncts, findingAt, holdsAlways, textComparison } from './clauses.ts'
import type { LintExpression, LintPolicy, LintRule } from './rule.ts'
import { allWorlds, type PossibleRequest, truth, truthOf } from './worlds.ts'

export const shadowed: LintRule = {
  name: 'shadowed-by-deny',
  severity: 'warning',
  summary: 'a DENY covers all that an ALLOW allows',
  why: 'One DENY outweighs every ALLOW: this one can never allow anything.',
  solve: 'narrow the DENY, or remove the ALLOW',
  bad: `exports:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.kind == 'EXPORT_WALLET'
no-exports:
  effect: deny
  condition: activity.action == 'EXPORT'`,
  good: `exports:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.kind == 'EXPORT_WALLET' && wallet.label == 'spare'
no-exports:
  effect: deny
  condition: activity.action == 'EXPORT' && wallet.label != 'spare'`,
  check({ policies }) {
    const worlds = allWorlds()
    const denies = policies.filter(
      ({ effect, fields }) => effect === 'deny' && fields.time === undefined && holdsAlways(fields.consensus),
    )
    return policies
      .filter(({ effect }) => effect === 'allow')
      .flatMap((policy) => {
        const deny = denies.find((one) => covers(one, policy, worlds))
        if (deny === undefined) return []
        const node = policy.fields.condition?.tree
        const message = `\`${policy.name}\` allows nothing that \`${deny.name}\` does not deny`
        const more = {
          related: { policy: deny.name, message: 'this denies all of it' },
          help: 'narrow the DENY, or remove the ALLOW',
        }
        return [
          node === undefined
            ? { at: { policy: policy.name }, message, ...more }
            : findingAt({ policy, field: 'condition', node }, message, more),
        ]
      })
  },
}

/** Whether each clause of the DENY follows from the ALLOW, in every world in which the ALLOW may apply. */
function covers(deny: LintPolicy, allow: LintPolicy, all: readonly PossibleRequest[]): boolean {
  const worlds = all.filter((world) => ['true', 'open'].includes(truthOf(allow, world)))
  if (worlds.length === 0) return false
  const given = conjuncts(allow.fields.condition?.tree)
  const { condition } = deny.fields
  if (condition === undefined) return true
  return conjuncts(condition.tree).every(
    (clause) =>
      given.some((one) => implies(one, clause)) ||
      worlds.every((world) => truth(clause, world, condition as LintExpression) === 'true'),
  )
}

/** `a` implies `b` by its text, or as one of fewer texts. */
function implies(a: Expression, b: Expression): boolean {
  if (print(a) === print(b)) return true
  const [narrow, wide] = [textComparison(a), textComparison(b)]
  if (narrow === undefined || wide === undefined || !narrow.equal || !wide.equal) return false
  if (print(narrow.value) !== print(wide.value)) return false
  return narrow.texts.every(({ value }) => wide.texts.some((text) => text.value === value))
}
