// Starts `quorate policy lsp` for the YAML files that are definitions. Everything else is the server's.
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const vscode = require('vscode')
const { LanguageClient } = require('vscode-languageclient/node')

let client

exports.activate = async () => {
  const settings = vscode.workspace.getConfiguration('quorate')
  client = new LanguageClient(
    'quorate',
    'quorate',
    { command: findCommand(settings.get('path')), args: ['policy', 'lsp'], options: { shell: process.platform === 'win32' } },
    { documentSelector: [{ scheme: 'file', language: 'yaml', pattern: settings.get('files') }] },
  )
  await client.start()
}

exports.deactivate = () => client?.stop()

/** The command that is configured, else the one of the workspace, else the one on the path. */
function findCommand(configured) {
  if (configured) return configured
  // A command that a checkout brings along runs only where its owner trusts it.
  const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : []
  const installed = folders.map(({ uri }) => join(uri.fsPath, 'node_modules', '.bin', 'quorate'))
  return installed.find((path) => existsSync(path)) ?? 'quorate'
}
