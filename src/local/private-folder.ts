import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { QuorateError } from '../diagnostics/index.ts'
import { exposed, exposureOf } from './exposure.ts'
import { explainSystemError } from './system-error.ts'

/** The mode of a folder that is made here, whatever the umask. */
const OWNER_ONLY = 0o700
/** What has Git ignore a folder. */
const [IGNORES, IGNORE_ALL] = ['.gitignore', '*\n']

/**
 * Makes a folder for its owner alone, with the folders above it, unless it is there; then it must be its owner's, and others
 * may not write it. In a Git work tree Git is told to ignore what was made, so that `git add .` takes no key. Throws `local/exposed`,
 * and what the system says in words (`explainSystemError`).
 */
export function ensurePrivateFolder(folder: string): void {
  ensureFolder(folder, OWNER_ONLY)
  assertPrivateFolder(folder)
}

/**
 * Makes a folder for files that are no secret, such as definitions, with the folders above it, unless it is there. Throws what
 * the system says in words (`explainSystemError`).
 * @param mode of the folders that are made, whatever the umask; by default as the umask says
 */
export function ensureFolder(folder: string, mode?: number): void {
  try {
    const made = makeFolder(folder, mode)
    if (made !== undefined && mode === OWNER_ONLY && isSeenByGit(resolve(made)))
      writeFileSync(join(made, IGNORES), IGNORE_ALL, { mode: 0o600 })
    if (!statSync(folder).isDirectory()) throw notAFolder(folder)
  } catch (error) {
    throw explainSystemError(error, { doing: `the folder \`${folder}\` cannot be used`, path: folder })
  }
}

/** Checks a folder that is there; false when there is none. Throws `local/exposed` and `local/no-folder`. */
export function assertPrivateFolder(folder: string): boolean {
  const itself = lstatSync(folder, { throwIfNoEntry: false })
  if (!itself) return false
  const stats = statSync(folder)
  if (!stats.isDirectory()) throw notAFolder(folder)
  // A link that this user made may lead to another disk; anybody else's may lead anywhere.
  const byLink = itself.isSymbolicLink()
  const exposure =
    byLink && itself.uid !== (process.geteuid?.() ?? itself.uid)
      ? { reason: `it is a symbolic link of user ${itself.uid}`, next: `remove the link: \`rm ${folder}\`` }
      : exposureOf(folder, stats)
  if (exposure) throw exposed(folder, exposure)
  return true
}

/**
 * Gives the topmost folder that it made, if any. Not Node's own recursive form: it does not end where a folder cannot be made and
 * does not exist, such as `/proc/x`.
 */
function makeFolder(folder: string, mode: number | undefined): string | undefined {
  if (statSync(folder, { throwIfNoEntry: false })) return undefined
  const above = dirname(folder)
  const topmost = above === folder ? undefined : makeFolder(above, mode)
  try {
    mkdirSync(folder, mode)
    if (mode !== undefined) chmodSync(folder, mode)
  } catch (error) {
    // Made meanwhile by another process, and looked at next.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return topmost
  }
  return topmost ?? folder
}

/** Whether a folder is in a Git work tree, and no folder above it was made here, which Git ignores whole. */
function isSeenByGit(folder: string): boolean {
  const above = dirname(folder)
  if (existsSync(join(folder, '.git'))) return true
  return above !== folder && !isIgnored(above) && isSeenByGit(above)
}

function isIgnored(folder: string): boolean {
  const path = join(folder, IGNORES)
  return existsSync(path) && readFileSync(path, 'utf8') === IGNORE_ALL
}

function notAFolder(folder: string): QuorateError {
  return new QuorateError('local/no-folder', `\`${folder}\` is no folder`, {
    facts: { path: folder },
    next: 'name another folder, or move the file away',
  })
}
