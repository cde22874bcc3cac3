import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { LOCK_FILE } from '../definitions/index.ts'
import type { Plan } from '../plan/index.ts'

const run = promisify(execFile)
/** Of a folder with hundreds of thousands of files that are not tracked. */
const MOST_BYTES = 64 * 1024 ** 2
const GIT = { timeout: 10_000, encoding: 'utf8', maxBuffer: MOST_BYTES } as const

/**
 * The Git commit that is checked out where a folder is, by Git's own files; undefined outside of a repository, and before its first
 * commit. What was changed since, `isEdited` tells.
 */
export function commitOf(folder: string): string | undefined {
  try {
    const git = gitFolderOf(resolve(folder))
    return git === undefined ? undefined : resolved(git, readFileSync(join(git, 'HEAD'), 'utf8').trim())
  } catch {
    // Nothing depends on it: a repository that cannot be read is none.
    return undefined
  }
}

/**
 * Whether definitions of a folder are not as the commit that is checked out has them; the lock is none. Undefined where Git does not
 * tell. No program that the repository's settings name is run, neither to watch it, nor to convert its files, nor to fetch what it lacks.
 */
export async function isEdited(folder: string): Promise<boolean | undefined> {
  const args = ['--no-optional-locks', 'status', '--porcelain', '-z', '--no-renames', '--ignore-submodules=all']
  try {
    const cwd = resolve(folder)
    const settings = withoutPrograms(await filtersOf(cwd))
    const status = await run('git', [...settings, ...args, '--untracked-files=all', '--', '.'], { ...GIT, cwd })
    const rows = status.stdout.split('\0').filter((row) => basename(row.slice(3)) !== LOCK_FILE)
    return rows.some((row) => /^(?!\?\?).|\.ya?ml$/.test(row))
  } catch {
    return undefined
  }
}

/** What a plan or a push says of changes since the commit: nothing where there are none, `not known` where Git does not tell. */
export async function changesSince(folder: string): Promise<Pick<Plan, 'uncommitted'>> {
  const edited = await isEdited(folder)
  if (edited === false) return {}
  return { uncommitted: edited ?? 'not known' }
}

/** The settings of a repository that name a program by which files are converted. */
async function filtersOf(cwd: string): Promise<readonly string[]> {
  const asked = ['config', '--null', '--name-only', '--get-regexp', '^filter\\..*\\.(clean|smudge|process|required)$']
  const found = await run('git', asked, { ...GIT, cwd }).catch((error: { readonly code?: unknown }) => {
    // What `git config` ends with where there is none.
    if (error.code === 1) return { stdout: '' }
    throw error
  })
  return found.stdout.split('\0').filter((name) => name !== '')
}

/** By which a partial clone would fetch what it lacks, from an address or by a program of its settings. */
const TRANSPORTS = ['ext', 'file', 'git', 'http', 'https', 'ssh']

/** What tells Git that nothing is fetched, that no program watches files, and that these settings are empty. */
function withoutPrograms(filters: readonly string[]): readonly string[] {
  if (filters.some((name) => name.includes('='))) throw new RangeError('no argument can set what is named so')
  const never = ['protocol.allow=never', ...TRANSPORTS.map((name) => `protocol.${name}.allow=never`)]
  const empty = filters.map((name) => `${name}=${name.endsWith('required') ? 'false' : ''}`)
  return ['core.fsmonitor=false', ...never, ...empty].flatMap((setting) => ['-c', setting])
}

/** The `.git` folder; of a worktree the one that its `.git` file names. */
function gitFolderOf(folder: string): string | undefined {
  const path = join(folder, '.git')
  if (!existsSync(path)) return dirname(folder) === folder ? undefined : gitFolderOf(dirname(folder))
  if (statSync(path).isDirectory()) return path
  const named = /^gitdir: (.+)$/m.exec(readFileSync(path, 'utf8'))?.[1]
  return named === undefined ? undefined : resolve(folder, named)
}

function resolved(git: string, head: string): string | undefined {
  const ref = /^ref: (refs\/[^\0]+)$/.exec(head)?.[1]
  if (ref === undefined || ref.includes('..')) return commitIn(head)
  const shared = join(git, 'commondir')
  const common = existsSync(shared) ? resolve(git, readFileSync(shared, 'utf8').trim()) : git
  const loose = [git, common].map((one) => join(one, ref)).find((one) => existsSync(one))
  if (loose !== undefined) return commitIn(readFileSync(loose, 'utf8').trim())
  const packed = readFileSync(join(common, 'packed-refs'), 'utf8')
  return commitIn(
    packed
      .split('\n')
      .find((row) => row.endsWith(` ${ref}`))
      ?.split(' ')[0] ?? '',
  )
}

function commitIn(text: string): string | undefined {
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text) ? text : undefined
}
