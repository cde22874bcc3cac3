import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system of its own that fills up soon; making one takes root. */
export interface SmallDisk {
  readonly folder: string
  /** Makes room. */
  grow(): void
  remove(): void
}

/** Mounts a tmpfs. @default size '2m' */
export function createSmallDisk(size = '2m'): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder])
  return {
    folder,
    grow: () => void execFileSync('mount', ['-o', 'remount,size=32m', folder]),
    remove() {
      // Lazily: a test that failed may still hold a file open.
      execFileSync('umount', ['-l', folder])
      rmdirSync(folder)
    },
  }
}
