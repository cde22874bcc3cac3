import { pathToFileURL } from 'node:url'
import {
  type DiagnosticRelatedInformation,
  DiagnosticSeverity,
  type Location,
  type Diagnostic as LspDiagnostic,
  type Range,
} from 'vscode-languageserver/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import type { Diagnostic, Severity, Span } from '../diagnostics/index.ts'

const severities: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
}

/** The range of a span: lines from 0, columns in UTF-16 units, as the protocol counts by default. */
export function toRange({ source, start, end }: Span): Range {
  const document = TextDocument.create('', '', 0, source.text)
  return { start: document.positionAt(start), end: document.positionAt(end) }
}

/** Where a span is. */
export function toLocation(span: Span): Location {
  return { uri: pathToFileURL(span.source.path).href, range: toRange(span) }
}

/** A diagnostic as editors show it: the help is a second line. */
export function toLspDiagnostic({ code, severity, message, help, span, related }: Diagnostic): LspDiagnostic {
  return {
    range: toRange(span),
    severity: severities[severity],
    code,
    source: 'quorate',
    message: help === undefined ? message : `${message}\nhelp: ${help}`,
    relatedInformation: related.map(
      (one): DiagnosticRelatedInformation => ({ location: toLocation(one.span), message: one.message }),
    ),
  }
}
