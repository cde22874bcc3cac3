/** Advice on policies: which rules find what. What is wrong for certain is the checker's to say. */
import type { CodeRow } from '../diagnostics/index.ts'
import { checkTree } from './check.ts'
import type { PolicyField } from './model.ts'
import { parse } from './parser.ts'
import type { Finding, LintExpression, LintInput, LintRule, LintSeverity } from './rules/rule.ts'
import { rules } from './rules/table.ts'

/** A finding with the rule that found it. */
export interface Advice extends Finding {
  readonly rule: LintRule
  readonly severity: Exclude<LintSeverity, 'off'>
}

/** What configuration says of rules, by their names. */
export type Severities = Readonly<Record<string, LintSeverity>>

/** Reads an expression for the rules; undefined when it has errors, which are said elsewhere. */
export function readForLint(field: PolicyField, text: string): LintExpression | undefined {
  const { tree, problems } = parse(text)
  if (tree === undefined) return undefined
  const checked = checkTree(field, tree)
  if ([...problems, ...checked.problems].some(({ severity }) => severity === 'error')) return undefined
  return { text, tree, types: checked.types }
}

/** Asks every rule that is not off; findings are in the order of the rules. */
export function lint(input: LintInput, severities: Severities = {}): readonly Advice[] {
  return rules.flatMap((rule) => {
    const severity = Object.hasOwn(severities, rule.name) ? severities[rule.name]! : rule.severity
    return severity === 'off' ? [] : rule.check(input).map((finding) => ({ ...finding, rule, severity }))
  })
}

/** The codes of what a linter of definitions reports. */
export const lintCodes: Readonly<Record<`lint/${string}`, CodeRow>> = {
  ...Object.fromEntries(rules.map(({ name, summary, solve }) => [`lint/${name}`, { summary, solve }])),
  'lint/unexplained-suppression': {
    summary: 'a rule is suppressed without a reason',
    solve: 'write it as `# quorate-lint-disable RULE: reason`',
  },
  'lint/unused-suppression': {
    summary: 'a rule is suppressed where it finds nothing',
    solve: 'remove the comment, or correct the name of the rule',
  },
  'lint/bad-configuration': {
    summary: 'the configuration of the linter is not one',
    solve: 'write `rules:` and a severity for each: off, info, warning or error',
  },
}
