/**
 * The VS Code extension, short of the editor: its manifest says what VS Code reads, and its code is run with the parts of
 * the editor that it asks for. What it starts is the real server, in the way that it says.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node'
import { builtMain } from '../built.ts'

const folder = join(import.meta.dirname, '../../src/lsp/vscode')
const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

interface Client {
  readonly server: { readonly command: string; readonly args: readonly string[] }
  readonly selector: readonly { readonly language: string; readonly scheme: string; readonly pattern: string }[]
  started: number
  stopped: number
}

/** Activates the extension in a workspace, with the settings of its manifest and others. */
async function activate(workspace: string, more: { isTrusted?: boolean; settings?: Record<string, unknown> } = {}) {
  const settings: Record<string, unknown> = {}
  for (const [name, { default: value }] of Object.entries<{ default: unknown }>(
    manifest.contributes.configuration.properties,
  ))
    settings[name] = value
  Object.assign(settings, more.settings)
  const clients: Client[] = []
  class LanguageClient implements Client {
    readonly server: Client['server']
    readonly selector: Client['selector']
    started = 0
    stopped = 0
    constructor(
      _id: string,
      _name: string,
      server: Client['server'],
      options: { documentSelector: Client['selector'] },
    ) {
      this.server = server
      this.selector = options.documentSelector
      clients.push(this)
    }
    async start() {
      this.started++
    }
    async stop() {
      this.stopped++
    }
  }
  const vscode = {
    workspace: {
      isTrusted: more.isTrusted ?? true,
      workspaceFolders: [{ uri: { fsPath: workspace } }],
      getConfiguration: (section: string) => ({ get: (name: string) => settings[`${section}.${name}`] }),
    },
  }
  const modules: Readonly<Record<string, unknown>> = { vscode, 'vscode-languageclient/node': { LanguageClient } }
  const exports: { activate?: () => Promise<void>; deactivate?: () => Promise<void> } = {}
  const require = (name: string) => modules[name] ?? process.getBuiltinModule(name as 'node:fs')
  new Function('require', 'exports', readFileSync(join(folder, manifest.main), 'utf8'))(require, exports)
  await exports.activate!()
  return { client: clients[0]!, deactivate: exports.deactivate! }
}

/** A workspace with the command in it, as `npm install quorate` leaves it. */
function workspaceWith(script: string): string {
  const workspace = mkdtempSync(join(tmpdir(), 'quorate-vscode-'))
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }))
  const bin = join(workspace, 'node_modules/.bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'quorate'), script)
  chmodSync(join(bin, 'quorate'), 0o755)
  return workspace
}

describe('extension', () => {
  test('extension: the manifest has what VS Code asks of one, and names what is there', () => {
    expect(manifest).toMatchObject({
      name: expect.stringMatching(/^[a-z0-9-]+$/),
      publisher: expect.stringMatching(/^[a-z0-9-]+$/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      engines: { vscode: expect.stringMatching(/^\^\d+\.\d+\.\d+$/) },
      activationEvents: ['onLanguage:yaml'],
    })
    expect(existsSync(join(folder, manifest.main))).toBe(true)
    const known = [
      'Programming Languages',
      'Snippets',
      'Linters',
      'Themes',
      'Debuggers',
      'Formatters',
      'Testing',
      'Other',
    ]
    for (const category of manifest.categories) expect(known).toContain(category)
    for (const [name, setting] of Object.entries<Record<string, unknown>>(
      manifest.contributes.configuration.properties,
    )) {
      expect(name).toMatch(/^quorate\.[a-z]+$/)
      expect(setting).toMatchObject({
        type: 'string',
        default: expect.any(String),
        markdownDescription: expect.any(String),
      })
    }
    // A workspace that nobody has vouched for must not say which program is run.
    expect(manifest.contributes.configuration.properties['quorate.path'].scope).toBe('machine')
  })

  test('extension: the code asks for nothing but what the manifest depends on', () => {
    const code = readFileSync(join(folder, manifest.main), 'utf8')
    const asked = [...code.matchAll(/require\('([^']+)'\)/g)].map(([, name]) => name!)
    const outside = asked.filter((name) => !name.startsWith('node:') && name !== 'vscode')
    expect(outside.map((name) => name.split('/')[0])).toEqual(Object.keys(manifest.dependencies))
  })

  test.skipIf(process.platform === 'win32')('extension: the server that it starts answers', async () => {
    const workspace = workspaceWith(`#!/bin/sh\nexec '${process.execPath}' '${builtMain()}' "$@"\n`)
    const { client, deactivate } = await activate(workspace)
    expect(client.started).toBe(1)
    expect(client.selector).toEqual([{ scheme: 'file', language: 'yaml', pattern: '**/definitions/**/*.{yaml,yml}' }])
    expect(client.server.command).toBe(join(workspace, 'node_modules/.bin/quorate'))
    const child: ChildProcess = spawn(client.server.command, client.server.args, { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const connection = createMessageConnection(
      new StreamMessageReader(child.stdout!),
      new StreamMessageWriter(child.stdin!),
    )
    connection.listen()
    const said = await connection.sendRequest('initialize', { processId: null, rootUri: null, capabilities: {} })
    expect(said).toMatchObject({
      capabilities: { hoverProvider: true, definitionProvider: true, documentFormattingProvider: true },
    })
    await connection.sendRequest('shutdown')
    const ended = new Promise((resolve) => child.once('exit', resolve))
    await connection.sendNotification('exit')
    expect(await ended).toBe(0)
    connection.dispose()
    await deactivate()
    expect(client.stopped).toBe(1)
  })

  test('extension: a command that a checkout brings along runs only where it is trusted', async () => {
    const workspace = workspaceWith('#!/bin/sh\n')
    const commandOf = async (more: Parameters<typeof activate>[1]) => (await activate(workspace, more)).client.server
    expect(await commandOf({ isTrusted: false })).toMatchObject({ command: 'quorate', args: ['policy', 'lsp'] })
    expect(await commandOf({ settings: { 'quorate.path': '/opt/quorate' } })).toMatchObject({ command: '/opt/quorate' })
  })
})
