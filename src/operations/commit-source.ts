/**
 * Definitions from a Git repository: the newest commit of one branch, in a bare copy in the data folder, believed only where one of
 * the allowed signers has signed it (`git verify-commit`). Terms: the *copy* is ours and has no working tree; a *signer* is a line of
 * an allowed signers file. Premise: whoever runs the repository's server may offer anything, at any time, and withhold what he likes.
 * So the branch and the signers are named when the watch is added, what is offered must follow what was taken before, and Git runs
 * with an environment of its own: no configuration but ours, no hooks, no prompts, no helpers, no redirects, one protocol.
 */
import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { ApplyError, type ReadCommit, type WatchSource } from '../../activities/index.ts'
import type { FolderEntry, FolderReader } from '../definitions/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { ensurePrivateFolder } from '../local/index.ts'
import { keepWithLock } from './watch-plan.ts'

type GitSource = Extract<WatchSource, { readonly kind: 'git' }>
type Environment = Readonly<Record<string, string | undefined>>

/** How the worker gets at a repository that is not public; the file names are paths. */
export const GIT_VARIABLES = {
  token: 'QUORATE_GIT_TOKEN',
  sshKeyFile: 'QUORATE_GIT_SSH_KEY_FILE',
  knownHostsFile: 'QUORATE_GIT_KNOWN_HOSTS_FILE',
} as const

/** A fetch may be long the first time. */
const FETCH_MS = 120_000
const GIT_MS = 30_000
/** Definitions are texts that people write. */
const MOST_BYTES = 4 * 1_048_576
const MOST_LISTING = 64 * 1_048_576

/** A proxy and an authority of one's own are the machine's to say. */
const PASSED_ON = ['PATH', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy', 'GIT_SSL_CAINFO']

/** Checks what a person names as the source. Throws `cli/usage`. */
export function checkGitSource({ url: text, branch, path }: Pick<GitSource, 'url' | 'branch' | 'path'>): void {
  const url = URL.parse(text)
  const fail = (expected: string, next: string) => {
    throw new QuorateError('cli/usage', `expected ${expected}`, { next })
  }
  const isLocal = url?.protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (!url || !(isLocal || ['https:', 'ssh:'].includes(url.protocol)))
    fail(
      '--git to be a URL with https:// or ssh://',
      'give ssh://git@host/path.git for git@host:path.git; a folder is given without --git',
    )
  if (url!.password !== '' || (url!.username !== '' && url!.protocol !== 'ssh:'))
    fail(
      'the URL to hold no user and no password',
      `give the worker a token in ${GIT_VARIABLES.token}; a URL is shown to everybody`,
    )
  if (/^-/.test(url!.hostname) || /^-/.test(url!.username)) fail('--git to name a host', 'correct the URL')
  // As git-check-ref-format(1) has it, and nothing that a shell or Git would read as an option.
  if (!/^[A-Za-z0-9_][\w./+-]*$/.test(branch) || /\.\.|\/\/|\/\.|\.lock$|[./]$/.test(branch))
    fail(`--branch to be the name of a branch`, 'give its name without refs/heads/')
  if (path.startsWith('/') || path.split('/').includes('..'))
    fail('the folder to be one in the repository', 'give its path from the root of the repository')
}

/** Makes the reader of repositories of a data folder. */
export function createCommitReader(dataDir: string, environment: Environment): ReadCommit {
  return async (source, { given, after }) => {
    checkGitSource(source)
    const { url, branch, path } = source
    const copy = join(dataDir, 'git', hash('sha256', `${url} ${branch}`))
    const git = createGit(copy, { url, environment })
    ensurePrivateFolder(copy)
    const home = join(copy, 'home')
    mkdirSync(home, { recursive: true, mode: 0o700 })
    await git(['init', '--quiet', '--bare', '--template=', '.'])
    const ref = 'refs/quorate/tip'
    const options = ['--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head', '--force']
    await git(['fetch', ...options, '--', url, `+refs/heads/${branch}:${ref}`], { timeoutMs: FETCH_MS })
    const commit = (await git(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`])).toString().trim()
    if (commit === after) return undefined
    const signed = await verify(git, commit, { signers: source.signers, file: join(copy, 'allowed-signers') })
    if (after !== undefined && !(await follows(git, { commit, after })))
      throw refused(`commit ${commit} does not follow ${after}, which was taken before`)
    const folder = path === '' ? '.' : path
    const reader = await treeReader(git, { commit, folder })
    const kept = await keepWithLock(folder, given, reader)
    return { ...kept, ...signed, commit }
  }
}

type Git = (args: readonly string[], options?: { readonly timeoutMs?: number }) => Promise<Buffer>

/** Git that believes nothing of this machine's, and asks nobody. */
function createGit(
  copy: string,
  { url, environment }: { readonly url: string; readonly environment: Environment },
): Git {
  const { protocol, origin } = new URL(url)
  const home = join(copy, 'home')
  const token = environment[GIT_VARIABLES.token]
  const env = {
    ...Object.fromEntries(PASSED_ON.flatMap((name) => (environment[name] ? [[name, environment[name]]] : []))),
    HOME: home,
    XDG_CONFIG_HOME: home,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    SSH_ASKPASS: 'false',
    SSH_ASKPASS_REQUIRE: 'never',
    GIT_ALLOW_PROTOCOL: protocol.slice(0, -1),
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_SSH_COMMAND: sshCommand(environment),
    GIT_SSH_VARIANT: 'ssh',
    ...(token && protocol !== 'ssh:'
      ? {
          // Not an argument, which every process of the machine can read.
          GIT_CONFIG_COUNT: '1',
          GIT_CONFIG_KEY_0: `http.${origin}/.extraHeader`,
          GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`,
        }
      : {}),
  }
  const settings = [
    'core.hooksPath=/dev/null',
    'core.fsmonitor=false',
    'credential.helper=',
    'fetch.fsckObjects=true',
    'gc.autoDetach=false',
    'http.followRedirects=false',
    'http.lowSpeedLimit=1000',
    'http.lowSpeedTime=30',
    'log.showSignature=false',
  ].flatMap((setting) => ['-c', setting])
  return (args, { timeoutMs = GIT_MS } = {}) =>
    new Promise((resolve, reject) => {
      const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: MOST_LISTING } as const
      const whole = [`--git-dir=${copy}`, ...settings, ...args]
      execFile('git', whole, { cwd: copy, env, encoding: 'buffer', ...limits }, (error, stdout, stderr) => {
        if (!error) return resolve(stdout)
        const { code, killed } = error
        const said = killed ? `no answer within ${timeoutMs / 1000} s` : tellingLine(stderr.toString())
        reject(new GitFailed(code === 'ENOENT' ? 'there is no `git` on this machine' : said, code))
      })
    })
}

class GitFailed extends ApplyError {
  readonly status: string | number | null | undefined

  constructor(said: string, status: string | number | null | undefined) {
    super('apply/source-away', `Git cannot read the repository: ${said}`)
    this.status = status
  }
}

/** The first line that begins as Git's faults do says the most; where that is only that `ssh` has ended, the one before it. */
function tellingLine(stderr: string): string {
  const lines = stderr.split(/\r?\n/).filter((line) => line.trim() !== '')
  const at = lines.findIndex((line) => /^(fatal|error|remote): /.test(line))
  const said = /: Could not read from remote repository/.test(lines[at] ?? '') ? lines[at - 1] : undefined
  return (said ?? lines[at] ?? lines[0] ?? 'it says nothing').slice(0, 300)
}

/** A key of the worker's own and hosts that somebody has looked at; nothing of `~/.ssh`. */
function sshCommand(environment: Environment): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const key = environment[GIT_VARIABLES.sshKeyFile]
  const hosts = environment[GIT_VARIABLES.knownHostsFile]
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'ForwardAgent=no',
    'ClearAllForwardings=yes',
    'PermitLocalCommand=no',
    `UserKnownHostsFile=${hosts ?? '/etc/ssh/ssh_known_hosts'}`,
    `IdentityFile=${key ?? 'none'}`,
  ]
  return ['ssh', '-F', '/dev/null', ...options.flatMap((option) => ['-o', quoted(option)])].join(' ')
}

/** Who signed a commit and when. Throws `apply/commit-refused` unless it is one of the signers, with an SSH key. */
async function verify(
  git: Git,
  commit: string,
  { signers, file }: { readonly signers: string; readonly file: string },
): Promise<{ readonly by: string; readonly at: string }> {
  writeFileSync(file, signers, { mode: 0o600 })
  const believing = [
    ...['-c', `gpg.ssh.allowedSignersFile=${file}`, '-c', 'gpg.minTrustLevel=fully'],
    // Signatures of other kinds would be looked up in rings of keys that nobody has named here.
    ...['-c', 'gpg.program=false', '-c', 'gpg.x509.program=false'],
  ]
  try {
    await git([...believing, 'verify-commit', commit])
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    const isSigned = /^gpgsig(-sha256)? /m.test((await git(['cat-file', 'commit', commit])).toString('latin1'))
    throw refused(
      isSigned ? `commit ${commit} is not signed by one of the allowed signers` : `commit ${commit} is not signed`,
    )
  }
  const shown = await git([...believing, 'log', '-1', '--format=%G?%n%GS%n%cI', commit])
  const [verdict, by = '', at = ''] = shown.toString().split('\n')
  if (verdict !== 'G' || by === '') throw refused(`commit ${commit} is not signed by one of the allowed signers`)
  return { by, at: new Date(at).toISOString() }
}

async function follows(
  git: Git,
  { commit, after }: { readonly commit: string; readonly after: string },
): Promise<boolean> {
  try {
    await git(['merge-base', '--is-ancestor', after, commit])
    return true
  } catch (error) {
    // 1: it is none; 128: it is not among the commits that there are.
    if (error instanceof GitFailed && (error.status === 1 || error.status === 128)) return false
    throw error
  }
}

interface TreeEntry extends FolderEntry {
  readonly mode: string
  readonly id: string
  readonly bytes: number
}

/** Reads a folder of a commit as one on the disk is read. Links and other repositories in it are not followed. */
async function treeReader(
  git: Git,
  { commit, folder }: { readonly commit: string; readonly folder: string },
): Promise<FolderReader> {
  const prefix = folder === '.' ? '' : `${folder.replace(/\/+$/, '')}/`
  const listed = await git(['ls-tree', '-r', '-z', '-l', '--full-tree', commit, ...(prefix ? ['--', prefix] : [])])
  const folders = new Map<string, Map<string, TreeEntry>>([['', new Map()]])
  for (const row of listed.toString().split('\0').filter(Boolean)) {
    const [, mode = '', id = '', size = '', path = ''] = /^(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(row) ?? []
    const names = path.slice(prefix.length).split('/')
    for (const [depth, name] of names.entries()) {
      const above = names.slice(0, depth).join('/')
      const isFile = depth === names.length - 1
      const entry: TreeEntry = { name, kind: isFile ? 'file' : 'folder', mode, id, bytes: Number(size) }
      if (!folders.has(above)) folders.set(above, new Map())
      if (!folders.get(above)!.has(name)) folders.get(above)!.set(name, entry)
    }
  }
  const nameOf = (path: string) => relative(folder, path).replaceAll(sep, '/')
  const missing = (path: string) => Object.assign(new Error(`\`${path}\` is not in ${commit}`), { code: 'ENOENT' })
  return {
    async list(path) {
      const entries = folders.get(nameOf(path))
      if (!entries || (nameOf(path) === '' && entries.size === 0)) throw missing(path)
      return [...entries.values()].map(({ name, kind }) => ({ name, kind }))
    },
    async read(path) {
      const names = nameOf(path).split('/')
      const entry = folders.get(names.slice(0, -1).join('/'))?.get(names.at(-1)!)
      if (entry?.kind !== 'file') throw missing(path)
      if (!/^100/.test(entry.mode)) throw new Error('it is a link or another repository, which is not followed')
      if (entry.bytes > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES / 1_048_576} MiB`)
      return new Uint8Array(await git(['cat-file', 'blob', entry.id]))
    },
  }
}

function refused(why: string): ApplyError {
  return new ApplyError('apply/commit-refused', why)
}
