import { lintRules, type RuleText } from '../../definitions/index.ts'
import { cell } from './cell.ts'

/** The page of each rule of the linter, and the list of them, by their paths under `docs/`. */
export const lintRulePages: Readonly<Record<string, () => string>> = {
  'rules/README.md': renderRuleList,
  ...Object.fromEntries(lintRules.map((rule) => [`rules/${rule.name}.md`, () => renderRule(rule)])),
}

function renderRuleList(): string {
  return `# Rules of \`quorate policy lint\`

Generated from the table of rules by \`npm run generate\`.

| rule | severity | finds | \`--fix\` |
|---|---|---|---|
${lintRules
  .map(
    ({ name, severity, summary, fixable }) =>
      `| [\`${name}\`](${name}.md) | ${severity} | ${cell(summary)} | ${fixable ? 'yes' : ''} |`,
  )
  .join('\n')}

## Severity

\`quorate.lint.yaml\` beside the definitions, or \`--rule NAME=SEVERITY\`, sets the severity of a rule: \`off\`, \`info\`,
\`warning\` or \`error\`. The command fails on errors, and with \`--max-warnings N\` on more warnings than that.

\`\`\`yaml
rules:
  free-index: error
  unused-tag: off
\`\`\`

## Suppression

A comment at a policy or tag, above its name or within it, suppresses one rule there, and says why:

\`\`\`yaml
policies:
  # quorate-lint-disable allow-anybody: every employee may make test wallets
  test-wallets:
    effect: allow
    condition: activity.kind == 'CREATE_WALLET'
\`\`\`

A suppression without a reason is an error, and one that suppresses nothing a warning.
`
}

function renderRule({ name, severity, summary, why, solve, bad, good, fixable }: RuleText): string {
  return `# ${name}

Finds that ${summary}. Severity: ${severity}${fixable ? '; `--fix` solves it where the meaning stays the same' : ''}.

${why}

To solve it, ${solve}.

## Found

\`\`\`yaml
policies:
${indented(bad)}
\`\`\`

## Not found

\`\`\`yaml
policies:
${indented(good)}
\`\`\`
`
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}
