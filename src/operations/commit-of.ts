import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/**
 * The Git commit that is checked out where a folder is, by Git's own files; undefined outside of a repository, and before its first
 * commit. What was changed since is not told apart: the digest of the definitions does that.
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
