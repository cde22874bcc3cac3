/**
 * A token of SoftHSM, one for each test process: a PKCS #11 module reads its settings once in a process, and the files of a process
 * share it.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const MODULE = '/usr/lib/softhsm/libsofthsm2.so'

/** Whether this machine has the module and the program that asks it. */
export const hasToken = existsSync(MODULE) && spawnSync('pkcs11-tool', ['--version']).error === undefined

/** The token of this process: what runs `pkcs11-tool` as its user, and the URI of a key by its label. */
export function softToken() {
  const folder = dirname(process.env['SOFTHSM2_CONF'] ?? makeToken())
  return {
    tool: (...args: readonly string[]) => runTool('--token-label', 'custody', '--login', '--pin', '1234', ...args),
    uri: (label: string) =>
      `pkcs11:token=custody;object=${label}?module-path=${MODULE}&pin-source=file:${join(folder, 'pin')}`,
  }
}

function makeToken(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-token-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'tokens'))
  const settings = join(folder, 'softhsm2.conf')
  writeFileSync(settings, `directories.tokendir = ${join(folder, 'tokens')}\n`)
  writeFileSync(join(folder, 'pin'), '1234\n', { mode: 0o600 })
  process.env['SOFTHSM2_CONF'] = settings
  runTool('--init-token', '--slot-index', '0', '--label', 'custody', '--so-pin', '0000')
  runTool('--init-pin', '--token-label', 'custody', '--so-pin', '0000', '--pin', '1234')
  return settings
}

function runTool(...args: readonly string[]): Buffer {
  return execFileSync('pkcs11-tool', ['--module', MODULE, ...args])
}
