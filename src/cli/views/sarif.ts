import { pathToFileURL } from 'node:url'
import type { RuleText } from '../../definitions/index.ts'
import { type Diagnostic, type Severity, type Span, toSpanJson } from '../../diagnostics/index.ts'

const levels: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' }

/** Renders diagnostics as a SARIF log (OASIS SARIF 2.1.0 §3). Columns count characters, as everywhere. */
export function toSarif(
  diagnostics: readonly Diagnostic[],
  { rules, version }: { readonly rules: readonly RuleText[]; readonly version: string },
) {
  const described = rules.map(({ name, summary, why, severity, solve }) => ({
    id: `lint/${name}`,
    shortDescription: { text: summary },
    fullDescription: { text: why },
    help: { text: solve },
    defaultConfiguration: { level: levels[severity] },
  }))
  const others = [...new Set(diagnostics.map(({ code }) => code))].filter(
    (code) => !described.some(({ id }) => id === code),
  )
  const ids = [...described.map(({ id }) => id), ...others]
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'quorate',
            semanticVersion: version,
            rules: [...described, ...others.map((id) => ({ id }))],
          },
        },
        columnKind: 'unicodeCodePoints',
        results: diagnostics.map(({ code, severity, message, help, span, related }) => ({
          ruleId: code,
          ruleIndex: ids.indexOf(code),
          level: levels[severity],
          message: { text: help === undefined ? message : `${message}; ${help}` },
          locations: [location(span)],
          relatedLocations: related.map((one) => ({ ...location(one.span), message: { text: one.message } })),
        })),
      },
    ],
  }
}

function location(span: Span) {
  const { path, line, column, endLine, endColumn } = toSpanJson(span)
  return {
    physicalLocation: {
      // A relative path is relative to where the tool ran, which is the root of a checkout in CI.
      artifactLocation: {
        uri: path.startsWith('/') ? pathToFileURL(path).href : encodeURI(path.replaceAll('\\', '/')),
      },
      region: { startLine: line, startColumn: column, endLine, endColumn },
    },
  }
}
