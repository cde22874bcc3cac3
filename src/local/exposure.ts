import type { Stats } from 'node:fs'
import { QuorateError } from '../diagnostics/index.ts'

/** Why something is not its owner's alone. */
export interface Exposure {
  /** A clause: what was seen. */
  readonly reason: string
  /** The command that mends it. */
  readonly next: string
}

/** The permissions that a private file must not have: 0077 is read, write and execute of group and others. */
const ANY_RIGHT = 0o077
/** Rights to write of group and others. A folder that others may write is one whose files they may replace. */
const WRITE = 0o022

export interface ExposureOptions {
  /** The required owner; undefined where the platform has no user ids, and then owner and mode are not checked. */
  readonly effectiveUser?: number | undefined
  /** Whether others may read it, as they may a log. @default false */
  readonly mayBeRead?: boolean
  /** Whether it may have other names, as a file has while it is claimed by a link. @default false */
  readonly mayBeLinked?: boolean
}

/**
 * What lets others than its owner read or replace a file or folder; undefined for one that is private. `stats` are those of
 * the thing itself: `lstat` of a path, or `fstat` of what was opened without following links.
 */
export function exposureOf(
  path: string,
  stats: Pick<Stats, 'uid' | 'mode' | 'nlink' | 'isDirectory' | 'isSymbolicLink'>,
  { effectiveUser = process.geteuid?.(), mayBeRead = false, mayBeLinked = false }: ExposureOptions = {},
): Exposure | undefined {
  const folder = stats.isDirectory()
  if (stats.isSymbolicLink()) {
    const reason = 'it is a symbolic link, which others may point elsewhere'
    return { reason, next: `put the file itself there: \`mv "$(readlink -f ${path})" ${path}\`` }
  }
  if (effectiveUser === undefined) return undefined
  const { uid, nlink } = stats
  const mode = stats.mode & 0o7777
  const seen = `its mode is 0${mode.toString(8)}`
  if (uid !== effectiveUser) {
    const reason = `it belongs to user ${uid}, and this process runs as user ${effectiveUser}`
    const next = `make it yours: \`chown ${folder ? '-R ' : ''}${effectiveUser} ${path}\``
    return { reason, next: folder ? `run this as user ${uid}, or ${next}` : next }
  }
  if (folder) {
    if ((mode & WRITE) === 0) return undefined
    const reason = `${seen}, so others than its owner may replace what is in it`
    return { reason, next: `look at what is in it, then close it: \`chmod 700 ${path}\`` }
  }
  if ((mode & (mayBeRead ? WRITE : ANY_RIGHT)) !== 0) {
    const reason = `${seen}, so others than its owner may use it`
    return { reason, next: `close it: \`chmod 600 ${path}\`; if others could read it, make a new key` }
  }
  if (nlink > 1 && !mayBeLinked) {
    const reason = `it has ${nlink} names (hard links), and who has another name of it keeps it`
    return { reason, next: `make it a file of its own: \`cp -p ${path} ${path}.own && mv ${path}.own ${path}\`` }
  }
  return undefined
}

/** How an exposed file or folder is refused. */
export function exposed(path: string, { reason, next }: Exposure): QuorateError {
  return new QuorateError('local/exposed', `refusing \`${path}\`: ${reason}`, { facts: { path }, next })
}
