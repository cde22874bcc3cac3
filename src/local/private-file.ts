import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { QuorateError } from '../diagnostics/index.ts'
import { type Exposure, type ExposureOptions, exposed, exposureOf } from './exposure.ts'
import { ensurePrivateFolder } from './private-folder.ts'

/** Rights of every file here: its owner's alone. */
const OWNER_ONLY = 0o600

/** Not following a link, and not waiting for the other end of a pipe. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** How an exposure of a file is told where it has a code of its own. */
export type Refusal = (path: string, exposure: Exposure) => QuorateError

/**
 * Reads a file that must be its owner's alone; undefined when there is none. The checks are made on the open file, so it
 * cannot be swapped between check and read. Throws `local/exposed`, or what `refusal` makes of it.
 */
export function readPrivate(
  path: string,
  { refusal = exposed }: { readonly refusal?: Refusal } = {},
): string | undefined {
  let file: number
  try {
    file = openSync(path, READ)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') return undefined
    // ELOOP: it is a link. EACCES: it may belong to somebody else, which says more.
    if (code === 'ELOOP' || code === 'EACCES') refuseExposed(path, lstatSync(path), refusal)
    throw error
  }
  try {
    refuseExposed(path, fstatSync(file), refusal)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/**
 * Copies a file that must be its owner's alone to a private file that is not there yet; false when there is none, or it is no
 * plain file. The checks are made on the open file, and what was copied is what is looked at afterwards. Throws `local/exposed`.
 */
export function copyPrivate(from: string, to: string): boolean {
  if (!assertPlain(from)) return false
  const source = openSync(from, READ)
  try {
    refuseExposed(from, fstatSync(source), exposed)
    const target = openSync(to, 'wx', OWNER_ONLY)
    try {
      const part = new Uint8Array(1 << 20)
      for (let read = readSync(source, part); read > 0; read = readSync(source, part)) writeAll(target, part, read)
    } finally {
      closeSync(target)
    }
    return true
  } finally {
    closeSync(source)
  }
}

/** Whether there is a plain file, which then must be its owner's alone: a pipe would be waited for. Throws `local/exposed`. */
export function assertPlain(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return false
  refuseExposed(path, stats, exposed)
  return stats.isFile()
}

function writeAll(file: number, bytes: Uint8Array, length: number): void {
  for (let at = 0; at < length; ) at += writeSync(file, bytes, at, length - at)
}

function refuseExposed(path: string, stats: Parameters<typeof exposureOf>[1], refusal: Refusal): void {
  const exposure = exposureOf(path, stats)
  if (exposure) throw refusal(path, exposure)
}

/**
 * Checks a file that is used by others than this process's own code, such as a database; true when there is one. What others
 * may read is closed, as it is no key; what they may write, or own, or have a link to, is refused. It is not opened: closing
 * a file ends every lock that this process has on it (POSIX). Throws `local/exposed`.
 */
export function tightenPrivate(path: string, options: ExposureOptions = {}): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return false
  const exposure = exposureOf(path, stats, { ...options, mayBeRead: true })
  if (exposure) throw exposed(path, exposure)
  if (exposureOf(path, stats, options)) chmodSync(path, OWNER_ONLY)
  return true
}

/** Writes a private file so that a crash leaves the old one or the new one, whole and on disk. */
export function writePrivate(path: string, text: string): void {
  const beside = `${path}.new`
  // One that a killed process left, or that somebody put there as a link: it is not written through.
  rmSync(beside, { force: true })
  try {
    writeNew(beside, text)
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  }
  syncFolder(dirname(path))
}

/** Throws as `writePrivate` would where the file could not be written; it stays as it is. */
export function tryPrivate(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' })
  const beside = `${path}.new`
  rmSync(beside, { force: true })
  try {
    writeNew(beside, '')
  } finally {
    rmSync(beside, { force: true })
  }
}

/** Creates a private file and makes it durable. Never overwrites: throws `EEXIST`. */
export function createPrivate(path: string, text: string): void {
  writeNew(path, text)
  syncFolder(dirname(path))
}

function writeNew(path: string, text: string): void {
  const file = openSync(path, 'wx', OWNER_ONLY)
  try {
    // The umask may have taken a right of the owner's.
    fchmodSync(file, OWNER_ONLY)
    // All of it, or it throws: on a full disk `writeSync` writes a part and says nothing.
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** A new name is on disk only when its folder is. */
function syncFolder(folder: string): void {
  const file = openSync(folder, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

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
