import { type Diagnostic, hasErrors, renderDiagnostics, toSpanJson } from '../../diagnostics/index.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { workflowCommands } from '../screen.ts'
import { annotates, toGithubAnnotation } from './github.ts'

/** Says what is wrong with definitions: as text, and in a job of GitHub Actions as annotations of their lines as well. */
export function sayDiagnostics(
  { io, json, environment }: Pick<CommandInput, 'io' | 'json' | 'environment'>,
  diagnostics: readonly Diagnostic[],
): void {
  if (!json) io.say(renderDiagnostics(diagnostics, io.style))
  if (annotates(environment))
    io.say(workflowCommands(diagnostics.map((one) => toGithubAnnotation(one, environment)).join('')))
}

/**
 * Says what is wrong; whether one may go on. As JSON it is what a command puts out only when one may not: what was asked for
 * comes otherwise.
 */
export function showDiagnostics(
  input: Pick<CommandInput, 'io' | 'json' | 'environment'>,
  diagnostics: readonly Diagnostic[],
): boolean {
  sayDiagnostics(input, diagnostics)
  if (!hasErrors(diagnostics)) return true
  if (input.json) writeJson(input.io, { diagnostics: diagnostics.map(toDiagnosticJson) })
  return false
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
