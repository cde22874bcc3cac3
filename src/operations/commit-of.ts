import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { LOCK_FILE } from '../definitions/index.ts'

const run = promisify(execFile)
const GIT_MS = 10_000

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
 * tell. No program that the repository's settings name to watch it is run.
 */
export async function isEdited(folder: string): Promise<boolean | undefined> {
  const args = ['--no-optional-locks', '-c', 'core.fsmonitor=false', 'status', '--porcelain', '-z', '--no-renames']
  try {
    const options = { cwd: resolve(folder), timeout: GIT_MS, encoding: 'utf8' } as const
    const { stdout } = await run('git', [...args, '--untracked-files=all', '--', '.'], options)
    return stdout.split('\0').some((row) => /^(?!\?\?).|\.ya?ml$/.test(row) && !row.endsWith(LOCK_FILE))
  } catch {
    return undefined
  }
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
