import { type Diagnostic, toSpanJson } from '../../diagnostics/index.ts'

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
