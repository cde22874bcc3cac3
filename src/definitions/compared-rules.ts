/**
 * Rules of the linter that compare the policies of an organization with and without each. What they find is worked out elsewhere and
 * given to the linter; here is what they are called and say.
 */
import type { CodeRow } from '../diagnostics/index.ts'
import { type Finding, type LintRule, rules } from '../policy/index.ts'

/** A rule as its readers know it. */
export type RuleText = Omit<LintRule, 'check'>

const redundantPolicy = {
  name: 'redundant-policy',
  severity: 'warning',
  summary: 'other policies decide the same without a policy',
  why: `Without it the same people get the same requests executed, whatever is asked and however they vote. Who narrows it later will think
that something is now denied, and who narrows the others will overlook it. That a DENY stops nothing that anybody is allowed today does
not make it redundant: it stands against what is allowed tomorrow.`,
  solve: 'remove it, or narrow the policies that cover it',
  bad: `small:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.value < 5
large:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.value <= 9`,
  good: `small:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.value < 5
large:
  effect: allow
  consensus: approvers.count() >= 3
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.value <= 9`,
} as const satisfies RuleText

const useUnknown = {
  name: 'use-unknown',
  severity: 'info',
  summary: 'it is not known whether a policy is of use',
  why: `Parts of requests that are compared with each other, people of whom policies read more than whether they are named, and more choices
than are followed cannot be told completely. Nothing is said of such a policy rather than something untrue.`,
  solve: 'compare with literals where that says the same, or leave it as it is',
  bad: `own:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.to == eth.tx.from
self:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.from == eth.tx.to`,
  good: `own:
  effect: allow
  consensus: approvers.count() >= 2
  condition: activity.kind == 'SIGN_TRANSACTION' && eth.tx.to == '0x1111111111111111111111111111111111111111'`,
} as const satisfies RuleText

/** Rules that only comparing finds. */
export const comparedRules: readonly RuleText[] = [redundantPolicy, useUnknown]

/** Every rule of the linter. */
export const lintRules: readonly RuleText[] = [...rules, ...comparedRules]

/** The rules that comparing can find something for; what `rules` find by themselves is found without it. */
const COMPARED = [
  'redundant-policy',
  'use-unknown',
  'shadowed-by-deny',
  'unreachable-threshold',
  'allow-never-applies',
  'deny-never-applies',
] as const
export type ComparedRuleName = (typeof COMPARED)[number]

export function isCompared(rule: string): boolean {
  return COMPARED.some((name) => name === rule)
}

/** Rules that say by themselves why a policy is of no use. */
const EXPLAINING: ReadonlySet<string> = new Set([
  ...COMPARED,
  'duplicate-policy',
  'unknown-activity',
  'malformed-address',
  'slice-length',
])

export function explainsUse(rule: string): boolean {
  return EXPLAINING.has(rule)
}

/** What comparing found of a policy. */
export interface ComparedFinding extends Omit<Finding, 'at' | 'related' | 'fix'> {
  readonly rule: ComparedRuleName
  readonly at: { readonly policy: string; readonly field?: 'consensus' }
  /** Other policies that explain it. */
  readonly related?: readonly NonNullable<Finding['related']>[]
}

export const comparedCodes: Readonly<Record<`lint/${string}`, CodeRow>> = Object.fromEntries(
  comparedRules.map(({ name, summary, solve }) => [`lint/${name}`, { summary, solve }]),
)
