import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { QuorateError } from '../diagnostics/index.ts'
import { exposureOf } from './exposure.ts'
import { exposed } from './private-file.ts'
import { explainSystemError } from './system-error.ts'

/** The mode of a folder that is made here, whatever the umask. */
const OWNER_ONLY = 0o700

/**
 * Makes a folder for its owner alone, with the folders above it, unless it is there; then it must be its owner's, and others
 * may not write it. Throws `local/exposed`, and what the system says in words (`explainSystemError`).
 */
export function ensurePrivateFolder(folder: string): void {
  try {
    makeFolder(folder)
  } catch (error) {
    throw explainSystemError(error, { doing: `the folder \`${folder}\` cannot be used`, path: folder })
  }
  assertPrivateFolder(folder)
}

/** Checks a folder that is there; false when there is none. Throws `local/exposed` and `local/no-folder`. */
export function assertPrivateFolder(folder: string): boolean {
  const itself = lstatSync(folder, { throwIfNoEntry: false })
  if (!itself) return false
  const stats = statSync(folder)
  if (!stats.isDirectory()) {
    throw new QuorateError('local/no-folder', `\`${folder}\` is no folder`, {
      facts: { path: folder },
      next: 'name another folder, or move the file away',
    })
  }
  // A link that this user made may lead to another disk; anybody else's may lead anywhere.
  const byLink = itself.isSymbolicLink()
  const exposure =
    byLink && itself.uid !== (process.geteuid?.() ?? itself.uid)
      ? { reason: `it is a symbolic link of user ${itself.uid}`, next: `remove the link: \`rm ${folder}\`` }
      : exposureOf(folder, stats)
  if (exposure) throw exposed(folder, exposure)
  return true
}

/** Not Node's own recursive form: it does not end where a folder cannot be made and does not exist, such as `/proc/x`. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })) return
  const above = dirname(folder)
  if (above !== folder) makeFolder(above)
  try {
    mkdirSync(folder, OWNER_ONLY)
    chmodSync(folder, OWNER_ONLY)
  } catch (error) {
    // Made meanwhile by another process, and looked at next.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
