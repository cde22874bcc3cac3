import {
  createConnection,
  type InitializeResult,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver/node'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { complete } from './complete.ts'
import { define } from './define.ts'
import { format } from './format.ts'
import { hover } from './hover.ts'
import { createWorkspace } from './workspace.ts'

export interface ServeEditorOptions {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  /** Values of `${env.X}` and `${var.x}`. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly vars: Readonly<Record<string, string>>
}

/** Serves one editor (Language Server Protocol 3.17) until it closes the connection. */
export function serveEditor({ input, output, env, vars }: ServeEditorOptions): Promise<void> {
  const connection = createConnection(new StreamMessageReader(input), new StreamMessageWriter(output))
  const documents = new TextDocuments(TextDocument)
  const workspace = createWorkspace({
    documents,
    env,
    vars,
    publish: (uri, diagnostics) => void connection.sendDiagnostics({ uri, diagnostics: [...diagnostics] }),
    say: (text) => connection.console.warn(text),
  })
  connection.onInitialize(
    (): InitializeResult => ({
      serverInfo: { name: 'quorate' },
      capabilities: {
        textDocumentSync: TextDocumentSyncKind.Incremental,
        completionProvider: { triggerCharacters: ['.', "'", '$', '{'] },
        hoverProvider: true,
        definitionProvider: true,
        documentFormattingProvider: true,
      },
    }),
  )
  documents.onDidChangeContent(({ document }) => workspace.changed(document.uri))
  documents.onDidClose(({ document }) => workspace.changed(document.uri))
  connection.onCompletion(({ textDocument, position }) => {
    const document = documents.get(textDocument.uri)
    return document && complete(document, position, workspace.namesBeside(document.uri))
  })
  connection.onHover(({ textDocument, position }) => {
    const document = documents.get(textDocument.uri)
    return document && hover(document, position)
  })
  connection.onDefinition(({ textDocument, position }) => {
    const document = documents.get(textDocument.uri)
    return document && define(document, position, workspace.namesBeside(document.uri))
  })
  connection.onDocumentFormatting(({ textDocument }) => {
    const document = documents.get(textDocument.uri)
    return document && format(document)
  })
  documents.listen(connection)
  const closed = new Promise<void>((resolve) => {
    input.once('close', () => resolve())
    input.once('end', () => resolve())
  })
  connection.listen()
  return closed
}
