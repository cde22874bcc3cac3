import { randomUUID } from 'node:crypto'
import { linkSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createPrivate } from './private-file.ts'
import { ensurePrivateFolder } from './private-folder.ts'

/** Makes a private file unless it is there: of many processes that begin at once one makes it, and it is never half there. */
export function claimPrivate(path: string, text: string): void {
  ensurePrivateFolder(dirname(path))
  if (!dropDrafts(path)) {
    const draft = `${path}.${randomUUID()}.new`
    try {
      createPrivate(draft, text)
      linkSync(draft, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      rmSync(draft, { force: true })
    }
    dropDrafts(path)
  }
}

/**
 * Takes away the other names that a file has while it is claimed, or kept from a process that was killed then: `<path>.….new`.
 * False where there is no file.
 */
export function dropDrafts(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return false
  const folder = dirname(path)
  const drafts = stats.nlink > 1 ? readdirSync(folder).filter((name) => isDraftOf(basename(path), name)) : []
  for (const name of drafts) {
    const draft = join(folder, name)
    if (lstatSync(draft, { throwIfNoEntry: false })?.ino === stats.ino) rmSync(draft, { force: true })
  }
  return true
}

function isDraftOf(name: string, other: string): boolean {
  return other.startsWith(`${name}.`) && other.endsWith('.new')
}
