/** An OpenSSH server on this machine that lets one key in: `sshd -i` for each connection to a listener on a port of its own. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find(existsSync)
/** What the server separates its rights to; where only root could make it, there is no server. */
const SEPARATED = '/run/sshd'

export const hasSshServer = SSHD !== undefined && (existsSync(SEPARATED) || process.getuid?.() === 0)

export interface SshServer {
  /** `ssh://user@127.0.0.1:port` */
  readonly url: string
  /** Paths: a key that is let in, one that is not, and a known hosts file that names this server. */
  readonly key: string
  readonly otherKey: string
  readonly knownHosts: string
  /** A known hosts file in which this address has the key of another server. */
  readonly otherHosts: string
}

export async function startSshServer(folder: string): Promise<SshServer> {
  if (!existsSync(SEPARATED)) mkdirSync(SEPARATED, { mode: 0o755 })
  const path = (name: string) => join(folder, name)
  for (const name of ['host', 'key', 'other'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path(name)], { stdio: 'pipe' })
  const publicKey = (name: string) => readFileSync(path(`${name}.pub`), 'utf8')
  writeFileSync(path('authorized'), publicKey('key'))
  const settings = {
    HostKey: path('host'),
    AuthorizedKeysFile: path('authorized'),
    AuthenticationMethods: 'publickey',
    PermitRootLogin: 'prohibit-password',
    StrictModes: 'no',
    UsePAM: 'no',
    PidFile: 'none',
  }
  writeFileSync(
    path('sshd_config'),
    Object.entries(settings)
      .map((row) => `${row.join(' ')}\n`)
      .join(''),
  )
  const server = createServer((socket) => {
    const child = spawn(SSHD!, ['-i', '-f', path('sshd_config')], { stdio: ['pipe', 'pipe', 'ignore'] })
    socket.pipe(child.stdin).on('error', () => {})
    child.stdout.pipe(socket).on('error', () => child.kill())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = server.address() as AddressInfo
  writeFileSync(path('known'), `[127.0.0.1]:${port} ${publicKey('host')}`)
  writeFileSync(path('other-known'), `[127.0.0.1]:${port} ${publicKey('other')}`)
  return {
    url: `ssh://${userInfo().username}@127.0.0.1:${port}`,
    key: path('key'),
    otherKey: path('other'),
    knownHosts: path('known'),
    otherHosts: path('other-known'),
  }
}
