import { type Diagnostic, diagnostic, type Source, suggest } from '../diagnostics/index.ts'
import type { LintSeverity, Severities } from '../policy/index.ts'
import { lintRules } from './compared-rules.ts'
import { parseYaml } from './parse.ts'
import { entryOf, textOf } from './tree.ts'

const severities: readonly LintSeverity[] = ['off', 'info', 'warning', 'error']

/**
 * Reads the configuration of the linter:
 *
 *     rules:
 *       free-index: error
 *       unused-tag: off
 */
export function readLintFile(given: Source): {
  readonly severities: Severities
  readonly diagnostics: readonly Diagnostic[]
} {
  const { tree, source, diagnostics: faults } = parseYaml(given)
  const diagnostics = [...faults]
  const found: Record<string, LintSeverity> = {}
  const bad = (message: string, span: Diagnostic['span'], help?: string) =>
    diagnostics.push(diagnostic('lint/bad-configuration', message, span, { help }))
  const isEmpty = tree?.kind === 'scalar' && tree.value === null
  if (tree !== undefined && tree.kind !== 'map' && !isEmpty)
    bad('expected `rules:` and a severity for each', { source, start: 0, end: 0 })
  for (const { key, keySpan, value } of tree?.kind === 'map' ? tree.entries : []) {
    if (key !== 'rules') bad(`unknown key \`${key}\``, keySpan, 'known here: `rules`')
    else if (value.kind !== 'map') bad('expected a severity for each rule', value.span)
  }
  const section = entryOf(tree, 'rules')?.value
  for (const { key, keySpan, value } of section?.kind === 'map' ? section.entries : []) {
    // YAML 1.2 reads `off` as a text; somebody may still write `false`.
    const word = textOf(value)
    const severity = severities.find((one) => one === word)
    const [near] = suggest(
      key,
      lintRules.map(({ name }) => name),
    )
    if (!lintRules.some(({ name }) => name === key))
      bad(`there is no rule \`${key}\``, keySpan, near === undefined ? undefined : `did you mean \`${near}\`?`)
    else if (severity === undefined) bad('expected `off`, `info`, `warning` or `error`', value.span)
    else found[key] = severity
  }
  return { severities: found, diagnostics }
}
