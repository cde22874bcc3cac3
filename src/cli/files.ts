import { accessSync, constants, existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { findKeyMaterial, placeInWords, QuorateError } from '../diagnostics/index.ts'
import { systemWords } from '../local/index.ts'
import { holdsLoadedKey } from '../telemetry/index.ts'

/** Writes a file in place, as its owner set it up. Throws `cli/unwritable`, and `cli/key-in-file` for key material. */
export function writeText(path: string, text: string): void {
  assertNoKeys(path, text)
  attempt(path, () => writeFileSync(path, text))
}

/** The same for a file that must not be there yet. */
export function writeNew(path: string, text: string): void {
  assertNoKeys(path, text)
  attempt(path, () => writeFileSync(path, text, { flag: 'wx' }))
}

/**
 * Writes a file that its owner alone may read, whole or not at all: a plan is read by others while it is written, and one
 * that was there may have been open to everybody. What is no file, such as a pipe, is written to. Throws `cli/unwritable`,
 * and `cli/key-in-file` for key material.
 */
export function writePrivate(path: string, text: string): void {
  assertNoKeys(path, text)
  attempt(path, () => {
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? true
    if (!isFile) return writeFileSync(path, text)
    const draft = draftOf(path)
    try {
      writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true })
      renameSync(draft, path)
    } catch (cause) {
      rmSync(draft, { force: true })
      throw cause
    }
  })
}

/** Where a file is written before it takes its place. */
const draftOf = (path: string) => `${path}.${process.pid}.tmp`

/** Plans, reports, locks and definitions are uploaded, committed and shown: none of them may hold a private key. Throws `cli/key-in-file`. */
export function assertNoKeys(path: string, text: string): void {
  const isLoaded = holdsLoadedKey(text)
  const found = isLoaded ? undefined : findKeyMaterial(text)
  if (!isLoaded && found === undefined) return
  const name = found?.name ?? 'the private key in use'
  throw new QuorateError(
    'cli/key-in-file',
    `what would stand in \`${path}\` holds ${name}; not shown, and not written`,
    {
      facts: { file: path, ...(found ? { at: placeInWords(text, found) } : {}), written: 'nothing' },
      next: 'find where it comes from (notes, names, values of variables, what is live), take it out there, and make a new key in its place',
    },
  )
}

/**
 * Throws `cli/unwritable` before anything is done where a file could not be written at its end: its folder is not there or may not
 * be written to, or it is a folder itself.
 */
export function assertWritable(path: string): void {
  attempt(
    path,
    () => {
      const found = statSync(path, { throwIfNoEntry: false })
      if (found?.isDirectory()) throw refusal('EISDIR')
      const folder = dirname(path)
      if (!statSync(folder).isDirectory()) throw refusal('ENOTDIR')
      if (found !== undefined && !found.isFile()) return accessSync(path, constants.W_OK)
      // What the mode of a folder allows, its file system need not: none is made by hand in `/proc`.
      const draft = draftOf(path)
      writeFileSync(draft, '', { flag: 'wx', mode: 0o600 })
      rmSync(draft)
    },
    { submitted: 'nothing' },
  )
}

const refusal = (code: string) => Object.assign(new Error(code), { code })

/** What to do where a path is wrong; anything else is of the machine. */
const NEXT: Readonly<Record<string, string>> = {
  ENOENT: 'make the folder, or choose another file',
  EISDIR: 'name a file in that folder',
  ENOTDIR: 'choose another file',
  EEXIST: 'choose another file',
  ENAMETOOLONG: 'choose another file',
  ELOOP: 'choose another file',
}

function attempt(path: string, write: () => void, facts: Readonly<Record<string, string>> = {}): void {
  try {
    write()
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    // The words of the system itself would name the draft beside the file.
    const words = systemWords(cause)
    const folder = dirname(path)
    const isSpecial = code === 'ENOENT' && existsSync(folder)
    const missing = isSpecial ? `no file can be made in \`${folder}\`` : `its folder \`${folder}\` is not there`
    const says = code === 'ENOENT' ? missing : (words?.says ?? code)
    const next = isSpecial ? 'name another folder' : (NEXT[code] ?? words?.next ?? 'choose another file')
    throw new QuorateError('cli/unwritable', `\`${path}\` cannot be written: ${says}`, {
      facts: { file: path, written: 'nothing', ...facts },
      next: `${next}, and run it again`,
      cause,
    })
  }
}
