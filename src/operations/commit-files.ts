/** Commits files with Git, and nothing else that stands in the working tree or the index. */
import { execFile } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { ApplyError } from '../../activities/index.ts'

const run = promisify(execFile)
/** Hooks of the repository run within it. */
const GIT_MS = 120_000

/**
 * Throws `rotate/uncommittable` unless the files can be committed on the branch that is checked out: each is known to Git and as its last
 * commit has it, no merge or rebase is under way, and Git knows an author.
 */
export async function assertCommittable(files: readonly string[]): Promise<void> {
  for (const [folder, paths] of byFolder(files)) {
    const { top } = await repositoryOf(folder)
    await git(folder, ['symbolic-ref', '--quiet', 'HEAD'], 'no branch is checked out')
    await git(folder, ['var', 'GIT_AUTHOR_IDENT'], 'Git knows no author (`git config user.email`)')
    await git(folder, ['ls-files', '--error-unmatch', '--', ...paths], 'a file is not under version control')
    const changed = await git(folder, ['status', '--porcelain', '--', ...paths], 'Git cannot read the files')
    if (changed.trim() !== '') throw uncommittable('a file has changes that are not committed', changed.trim(), top)
    const unmerged = await git(folder, ['rev-parse', '--verify', '--quiet', 'MERGE_HEAD']).catch(() => '')
    if (unmerged.trim() !== '') throw uncommittable('a merge is under way', undefined, top)
  }
}

/** Commits these files alone, whatever else is changed or staged, and returns the ids of the commits, one a repository. */
export async function commitFiles(files: readonly string[], message: string): Promise<readonly string[]> {
  const commits: string[] = []
  const tops = new Map<string, string[]>()
  for (const [folder, paths] of byFolder(files)) {
    const { top } = await repositoryOf(folder)
    tops.set(top, [...(tops.get(top) ?? []), ...paths])
  }
  for (const [top, paths] of tops) {
    await git(top, ['commit', '--quiet', '--only', '--message', message, '--', ...paths], 'Git did not commit')
    commits.push((await git(top, ['rev-parse', 'HEAD'])).trim())
  }
  return commits
}

/** Those of the files that Git knows. */
export async function trackedOf(files: readonly string[]): Promise<readonly string[]> {
  const tracked: string[] = []
  for (const path of files) {
    const known = await git(dirname(resolve(path)), ['ls-files', '--', resolve(path)]).catch(() => '')
    if (known.trim() !== '') tracked.push(path)
  }
  return tracked
}

function byFolder(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy(
    files.map((path) => resolve(path)),
    (path) => dirname(path),
  )
}

async function repositoryOf(folder: string): Promise<{ readonly top: string }> {
  const top = await git(folder, ['rev-parse', '--show-toplevel'], 'the definitions are in no Git working tree')
  return { top: top.trim() }
}

async function git(folder: string, args: readonly string[], what = 'Git failed'): Promise<string> {
  try {
    return (await run('git', args, { cwd: folder, timeout: GIT_MS, encoding: 'utf8' })).stdout
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string }
    throw uncommittable(what, stderr.trim().split('\n')[0] || message.split('\n')[0], folder)
  }
}

function uncommittable(what: string, said: string | undefined, folder: string): ApplyError {
  return new ApplyError('rotate/uncommittable', what, {
    facts: { folder, ...(said ? { 'Git said': said } : {}) },
    next: 'commit or put away what is there, or leave --commit out: the change is printed as a patch then',
  })
}
