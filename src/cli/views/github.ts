import { relative, resolve } from 'node:path'
import { type Diagnostic, type Severity, toErrorJson, toSpanJson } from '../../diagnostics/index.ts'

const levels: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'notice' }

type Environment = Readonly<Record<string, string | undefined>>

/** Whether what is wrong is said as annotations as well: a job of GitHub Actions reads them from either stream. */
export function annotates(environment: Environment): boolean {
  return environment['GITHUB_ACTIONS'] === 'true'
}

/**
 * A workflow command that annotates a line of a pull request (GitHub Actions, "workflow commands"). Ends with a line
 * break. Paths are from the workspace, wherever in it the command runs.
 */
export function toGithubAnnotation(
  { code, severity, message, help, span }: Diagnostic,
  environment: Environment = {},
): string {
  const { path, line, column, endLine, endColumn } = toSpanJson(span)
  // Columns of a stretch over several lines are refused.
  const columns = line === endLine ? `,col=${column},endColumn=${endColumn}` : ''
  const file = fromWorkspace(path, environment['GITHUB_WORKSPACE'])
  const properties = `file=${property(file)},line=${line},endLine=${endLine}${columns},title=${property(code)}`
  return `::${levels[severity]} ${properties}::${data(help === undefined ? message : `${message}\n${help}`)}\n`
}

/** A workflow command that shows an error, which is about no line. */
export function toGithubError(error: unknown): string {
  const { code, message, next } = toErrorJson(error)
  return `::error title=${property(code)}::${data(next === undefined ? message : `${message}\n${next}`)}\n`
}

function fromWorkspace(path: string, workspace: string | undefined): string {
  return workspace === undefined ? path : relative(workspace, resolve(path)).replaceAll('\\', '/')
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
