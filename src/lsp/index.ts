/**
 * LSP: a language server for definitions: diagnostics, advice, completion, hover, definition, format. Knows editors and
 * positions; what is right is asked of `definitions` and `policy`. Reads files of the folder beside an open document,
 * writes none, and asks no network.
 */
export { type ServeEditorOptions, serveEditor } from './server.ts'
