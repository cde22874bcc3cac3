import { type Diagnostic, renderDiagnostics, toSpanJson } from '../../diagnostics/index.ts'
import type { CommandInput } from '../command.ts'
import { annotates, toGithubAnnotation } from './github.ts'

/** Says what is wrong with definitions: as text, and in a job of GitHub Actions as annotations of their lines as well. */
export function sayDiagnostics(
  { io, json, environment }: Pick<CommandInput, 'io' | 'json' | 'environment'>,
  diagnostics: readonly Diagnostic[],
): void {
  if (!json) io.say(renderDiagnostics(diagnostics, io.style))
  if (annotates(environment)) io.say(diagnostics.map((one) => toGithubAnnotation(one, environment)).join(''))
}

/** The JSON form of a diagnostic. */
export function toDiagnosticJson({ code, severity, message, span, related, help }: Diagnostic) {
  return {
    code,
    severity,
    message,
    ...toSpanJson(span),
    related: related.map((one) => ({ message: one.message, ...toSpanJson(one.span) })),
    ...(help === undefined ? {} : { help }),
  }
}
