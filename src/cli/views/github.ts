import { type Diagnostic, type Severity, toSpanJson } from '../../diagnostics/index.ts'

const levels: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'notice' }

/** A workflow command that annotates a line of a pull request (GitHub Actions, "workflow commands"). Ends with a line break. */
export function toGithubAnnotation({ code, severity, message, help, span }: Diagnostic): string {
  const { path, line, column, endLine, endColumn } = toSpanJson(span)
  // Columns of a stretch over several lines are refused.
  const columns = line === endLine ? `,col=${column},endColumn=${endColumn}` : ''
  const properties = `file=${property(path)},line=${line},endLine=${endLine}${columns},title=${property(code)}`
  return `::${levels[severity]} ${properties}::${data(help === undefined ? message : `${message}\n${help}`)}\n`
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
