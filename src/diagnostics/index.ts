/**
 * Diagnostics: how anything that goes wrong is said. Two families, never mixed: a *diagnostic* is a value about text
 * that a person wrote, gathered and sorted by position; an *error* is thrown, carries facts as fields, and says what
 * to do next. Callers match `code`, never text. Each room keeps its codes in a `codes.ts` of its own.
 */
export { type CodeRow, type Codes, EXIT, type ExitCode } from './codes.ts'
export { csvLine } from './csv.ts'
export { type Diagnostic, diagnostic, hasErrors, type Related, type Severity, sortDiagnostics } from './diagnostic.ts'
export { messageOf, QuorateError, type QuorateErrorOptions, toErrorJson, unreadWords } from './error.ts'
export { findKeyMaterial, keyPlaces, placeInWords, withoutKeyMaterial, withoutKeys } from './key-material.ts'
export { markdownCode, markdownText } from './markdown.ts'
export {
  codePoint,
  findUnseen,
  printable,
  printableDeep,
  printableJson,
  printableLines,
  withoutUnseen,
} from './printable.ts'
export { renderDiagnostics, renderError } from './render.ts'
export { createSource, type Position, positionAt, type Source, type Span, spanAt, toSpanJson } from './source.ts'
export { suggest } from './suggest.ts'
