import type { Expression } from '../ast.ts'
import { conjuncts, findingAt } from './clauses.ts'
import type { Finding, LintExpression, LintInput, LintRule } from './rule.ts'
import { absentIn, allWorlds, type PossibleRequest, truth } from './worlds.ts'

export const deadDeny: LintRule = {
  name: 'deny-never-applies',
  severity: 'error',
  summary: 'a DENY is an error or false on every request',
  why: 'A policy that errs takes no part in the decision. A DENY that can only err denies nothing, and looks as if it did.',
  solve: 'split it, so that each policy reads only what its requests have',
  bad: `protected:
  effect: deny
  condition: wallet.id == 'a' || private_key.id == 'b'`,
  good: `protected-wallet:
  effect: deny
  condition: wallet.id == 'a'
protected-key:
  effect: deny
  condition: private_key.id == 'b'`,
  check: (input) => neverApplying(input, 'deny'),
}

export const deadAllow: LintRule = {
  name: 'allow-never-applies',
  severity: 'warning',
  summary: 'an ALLOW is an error or false on every request',
  why: 'It allows nothing, and its reader thinks that it does.',
  solve: 'read only what the requests it is about have, or remove it',
  bad: `wallets:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.kind == 'CREATE_WALLET' && wallet.label == 'a'`,
  good: `wallets:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.kind == 'EXPORT_WALLET' && wallet.label == 'a'`,
  check: (input) => neverApplying(input, 'allow'),
}

function neverApplying({ policies }: LintInput, effect: 'allow' | 'deny'): readonly Finding[] {
  const worlds = allWorlds()
  return policies.flatMap((policy) => {
    const { condition } = policy.fields
    if (policy.effect !== effect || condition === undefined) return []
    const truths = new Set(worlds.map((world) => truth(condition.tree, world, condition)))
    if (truths.has('true') || truths.has('open')) return []
    const found = (node: Expression, message: string) =>
      findingAt({ policy, field: 'condition', node }, message, {
        help: 'a policy that is an error takes no part in the decision, and `||` does not help: both of its sides are read; give what other requests have a policy of its own',
      })
    const absent = neverThere(condition)
    if (absent !== undefined) return [found(absent.clause, `\`${policy.name}\` never applies: ${absent.why}`)]
    const message = truths.has('error')
      ? `\`${policy.name}\` never applies: wherever it is not false, something that it reads is absent, which is an error`
      : `\`${policy.name}\` never applies: it is false for every activity`
    return [found(condition.tree, message)]
  })
}

/** The first clause that errs on every activity that the other clauses leave; undefined when it takes several to err. */
function neverThere(condition: LintExpression): { readonly clause: Expression; readonly why: string } | undefined {
  const clauses = conjuncts(condition.tree)
  const comesTo = (clause: Expression) => (world: PossibleRequest) => truth(clause, world, condition)
  const targets = clauses.filter((clause) => allWorlds().every((world) => comesTo(clause)(world) !== 'open'))
  const meant = allWorlds().filter((world) => targets.every((clause) => comesTo(clause)(world) === 'true'))
  const clause = clauses.find((one) => meant.length > 0 && meant.every((world) => comesTo(one)(world) === 'error'))
  if (clause === undefined || targets.length === 0) return undefined
  const kinds = [...new Set(meant.map(({ row }) => `\`${row.kind ?? row.type}\``))]
  const absent = new Set(meant.flatMap((world) => absentIn(clause, world) ?? []))
  const what = absent.size === 1 ? `\`${[...absent][0]}\`` : 'something that this reads'
  const where = kinds.length <= 3 ? new Intl.ListFormat('en').format(kinds) : 'every activity that it is about'
  return { clause, why: `${what} is absent on ${where}, so this is always an error` }
}
