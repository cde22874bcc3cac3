import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type Fix,
  LINT_FILE,
  lintDefinitions,
  lintRules,
  readInside,
  readLintFile,
} from '../../../definitions/index.ts'
import {
  createSource,
  type Diagnostic,
  EXIT,
  type ExitCode,
  QuorateError,
  renderDiagnostics,
  type Severity,
  sortDiagnostics,
  unreadWords,
} from '../../../diagnostics/index.ts'
import type { LintSeverity, Severities } from '../../../policy/index.ts'
import type { CommandInput } from '../../command.ts'
import { comparedFindings } from '../../compared-findings.ts'
import { writeText } from '../../files.ts'
import { jsonText, writeJson } from '../../io.ts'
import { readPolicies } from '../../policies.ts'
import { counted, line, workflowCommands } from '../../screen.ts'
import { version } from '../../version.ts'
import { toDiagnosticJson } from '../../views/diagnostics.ts'
import { annotates, toGithubAnnotation } from '../../views/github.ts'
import { showingComputing } from '../../views/reading.ts'
import { toSarif } from '../../views/sarif.ts'

/** Lints the policies of a folder of definitions, and of the sub-organizations in it. Fails on errors, and on more warnings than are allowed. */
export async function lint(input: CommandInput): Promise<ExitCode> {
  const { io, json, args, options, environment } = input
  const folder = args[0] ?? '.'
  const configured = readConfiguration(folder, options)
  const loaded = await readPolicies(input, folder)
  // Each organization is judged by its own policies; a template, as its first sub-organization.
  const inside = await Promise.all(loaded.folders.map((nested) => readPolicies(input, nested, loaded.vars)))
  const linted = showingComputing(io, () =>
    [loaded, ...inside].map((one) => lintDefinitions(one, configured.severities, () => comparedFindings(one))),
  )
  const fixed = options['fix'] === true ? applyFixes(linted.flatMap(({ fixes }) => fixes)) : []
  const diagnostics = sortDiagnostics([
    ...configured.diagnostics,
    ...[loaded, ...inside].flatMap((one) => one.diagnostics),
    ...linted.flatMap((one) => one.diagnostics).filter((one) => !fixed.some(({ solves }) => solves === one)),
  ])
  if (typeof options['sarif'] === 'string') {
    writeText(options['sarif'], jsonText(toSarif(diagnostics, { rules: lintRules, version })))
  }
  const counts = countOf(diagnostics)
  if (json) writeJson(io, { ...counts, fixed: fixed.length, diagnostics: diagnostics.map(toDiagnosticJson) })
  else if (options['github'] === true)
    io.out(workflowCommands(diagnostics.map((one) => toGithubAnnotation(one, environment)).join('')))
  else {
    io.out(renderDiagnostics(diagnostics, io.style))
    if (annotates(environment))
      io.say(workflowCommands(diagnostics.map((one) => toGithubAnnotation(one, environment)).join('')))
    io.say(
      line`${counted(counts.errors, 'error')}, ${counted(counts.warnings, 'warning')}, ${counted(counts.infos, 'remark')}${fixed.length > 0 ? `, ${fixed.length} fixed` : ''}\n`,
    )
  }
  return counts.errors > 0 || counts.warnings > mostWarnings(options) ? EXIT.error : EXIT.done
}

/** The severities of the file beside the definitions, and those of the command line over them. */
function readConfiguration(
  folder: string,
  options: CommandInput['options'],
): { readonly severities: Severities; readonly diagnostics: readonly Diagnostic[] } {
  const path = join(existsSync(folder) && statSync(folder).isDirectory() ? folder : dirname(folder), LINT_FILE)
  const file = existsSync(path)
    ? readLintFile(createSource(path, readLintText(path)))
    : { severities: {}, diagnostics: [] }
  const given = ((options['rule'] as string[] | undefined) ?? []).map((text): [string, LintSeverity] => {
    const [name = '', severity = ''] = text.split('=')
    if (!lintRules.some((rule) => rule.name === name) || !isSeverity(severity))
      throw new QuorateError('cli/usage', `expected \`--rule\` to be a rule and a severity, got \`${text}\``, {
        next: 'write it as `--rule unused-tag=off`; severities are off, info, warning and error',
      })
    return [name, severity]
  })
  return { severities: { ...file.severities, ...Object.fromEntries(given) }, diagnostics: file.diagnostics }
}

function readLintText(path: string): string {
  try {
    return new TextDecoder().decode(readInside(dirname(path), path))
  } catch (cause) {
    throw new QuorateError('cli/usage', `\`${path}\` cannot be read: ${unreadWords(cause)}`, {
      next: 'put the configuration of the linter itself there, or remove it',
      cause,
    })
  }
}

function isSeverity(text: string): text is LintSeverity {
  return ['off', 'info', 'warning', 'error'].includes(text)
}

function mostWarnings({ maxWarnings }: CommandInput['options']): number {
  if (maxWarnings === undefined) return Number.POSITIVE_INFINITY
  if (typeof maxWarnings === 'string' && /^\d+$/.test(maxWarnings)) return Number(maxWarnings)
  throw new QuorateError('cli/usage', `expected \`--max-warnings\` to be a number, got \`${String(maxWarnings)}\``, {
    next: 'write it as `--max-warnings 0`',
  })
}

/** Writes fixes into their files, and gives those that were written. */
function applyFixes(fixes: readonly Fix[]): readonly Fix[] {
  for (const path of new Set(fixes.map(({ span }) => span.source.path))) {
    let text = readFileSync(path, 'utf8')
    const own = fixes.filter(({ span }) => span.source.path === path)
    // From the end, so that the places of the others stay.
    for (const { span, text: fixed } of own.toSorted((a, b) => b.span.start - a.span.start))
      text = text.slice(0, span.start) + fixed + text.slice(span.end)
    writeText(path, text)
  }
  return fixes
}

function countOf(diagnostics: readonly Diagnostic[]) {
  const count = (severity: Severity) => diagnostics.filter((one) => one.severity === severity).length
  return { errors: count('error'), warnings: count('warning'), infos: count('info') }
}
