/** A language client over stdio, as an editor is one: it starts the command and speaks the protocol. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import {
  createMessageConnection,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node'
import { builtMain } from '../built.ts'

export interface Shown {
  readonly code: string
  readonly severity: number
  readonly message: string
  readonly range: Range
}

export interface Range {
  readonly start: { readonly line: number; readonly character: number }
  readonly end: { readonly line: number; readonly character: number }
}

export class Editor {
  readonly folder: string
  readonly #connection: MessageConnection
  readonly #child: ChildProcess
  readonly #shown = new Map<string, readonly Shown[]>()
  #waiting: (() => void)[] = []
  #version = 0

  /** Starts a server for a folder with these files. */
  static async open(files: Readonly<Record<string, string>>): Promise<Editor> {
    const folder = mkdtempSync(join(tmpdir(), 'quorate-lsp-'))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const editor = new Editor(folder)
    onTestFinished(() => editor.close())
    await editor.#connection.sendRequest('initialize', {
      processId: process.pid,
      rootUri: pathToFileURL(folder).href,
      capabilities: {},
    })
    await editor.#connection.sendNotification('initialized', {})
    return editor
  }

  private constructor(folder: string) {
    this.folder = folder
    this.#child = spawn(process.execPath, [builtMain(), 'policy', 'lsp'], {
      env: { PATH: process.env['PATH'], HOME: folder },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#connection = createMessageConnection(
      new StreamMessageReader(this.#child.stdout!),
      new StreamMessageWriter(this.#child.stdin!),
    )
    this.#connection.onNotification('textDocument/publishDiagnostics', (given) => {
      const { uri, diagnostics } = given as { uri: string; diagnostics: readonly Shown[] }
      this.#shown.set(uri, diagnostics)
      const waiting = this.#waiting
      this.#waiting = []
      for (const resume of waiting) resume()
    })
    this.#connection.listen()
  }

  uri(name: string): string {
    return pathToFileURL(join(this.folder, name)).href
  }

  async type(name: string, text: string): Promise<void> {
    const uri = this.uri(name)
    this.#version++
    if (this.#version === 1)
      await this.#connection.sendNotification('textDocument/didOpen', {
        textDocument: { uri, languageId: 'yaml', version: this.#version, text },
      })
    else
      await this.#connection.sendNotification('textDocument/didChange', {
        textDocument: { uri, version: this.#version },
        contentChanges: [{ text }],
      })
  }

  /** Waits until what is shown for a file is as wanted. */
  async shows(name: string, wanted: (shown: readonly Shown[]) => boolean): Promise<readonly Shown[]> {
    for (;;) {
      const shown = this.#shown.get(this.uri(name))
      if (shown !== undefined && wanted(shown)) return shown
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Asks about the place of a `‸` in a text, which is shown without it. */
  async ask<Answer>(method: string, name: string, marked: string): Promise<Answer> {
    const offset = marked.indexOf('‸')
    await this.type(name, marked.replace('‸', ''))
    const before = marked.slice(0, offset)
    const position = { line: before.split('\n').length - 1, character: offset - (before.lastIndexOf('\n') + 1) }
    return this.#connection.sendRequest(method, { textDocument: { uri: this.uri(name) }, position })
  }

  format(name: string): Promise<readonly { readonly range: Range; readonly newText: string }[]> {
    return this.#connection.sendRequest('textDocument/formatting', {
      textDocument: { uri: this.uri(name) },
      options: { tabSize: 2, insertSpaces: true },
    })
  }

  /** Leaves as editors do, and gives the exit code of the server. */
  async leave(): Promise<number | null> {
    const exited = new Promise<number | null>((resolve) => this.#child.once('exit', resolve))
    await this.#connection.sendRequest('shutdown')
    await this.#connection.sendNotification('exit')
    return exited
  }

  close(): void {
    this.#connection.dispose()
    this.#child.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
