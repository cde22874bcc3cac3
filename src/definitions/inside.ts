/**
 * Files of definitions as a stranger may have put them there: a branch that somebody else pushed is looked at before anybody
 * has read it. A link must not bring in a file from elsewhere on the machine, whose text would then stand in a plan or an
 * error; a pipe or a device must not hold the reader up; nothing may be larger than definitions ever are.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'

/** More than the definitions of the largest organization. */
const MOST_BYTES = 16_000_000

/** Why a file that is there is not read. */
export class NotReadable extends Error {}

/** Reads a file, if it is one, and if it stands below `root` when all links are followed. Throws, also `NotReadable`. */
export function readInside(root: string, path: string): Uint8Array {
  const real = realInside(root, path)
  // A pipe would wait for its other end.
  const file = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const found = fstatSync(file)
    if (found.isDirectory()) throw new NotReadable('it is a folder')
    if (!found.isFile()) throw new NotReadable('it is no ordinary file')
    if (found.size > MOST_BYTES) throw new NotReadable(`it has ${found.size} bytes, over ${MOST_BYTES}`)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/** Where a path leads when all links are followed. Throws `NotReadable` when that is not below `root`. */
export function realInside(root: string, path: string): string {
  const real = realpathSync(path)
  const below = relative(realpathSync(root), real)
  if (isAbsolute(below) || below.split(/[\\/]/)[0] === '..') {
    throw new NotReadable('it is a link that leads out of the folder of the definitions')
  }
  return real
}
