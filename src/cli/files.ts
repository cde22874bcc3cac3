import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { findKeyMaterial, placeInWords, QuorateError } from '../diagnostics/index.ts'
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
    const draft = `${path}.${process.pid}.tmp`
    try {
      writeFileSync(draft, text, { flag: 'wx', mode: 0o600, flush: true })
      renameSync(draft, path)
    } catch (cause) {
      rmSync(draft, { force: true })
      throw cause
    }
  })
}

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

function attempt(path: string, write: () => void): void {
  try {
    write()
  } catch (cause) {
    throw new QuorateError('cli/unwritable', `\`${path}\` cannot be written: ${(cause as Error).message}`, {
      facts: { file: path, submitted: 'nothing' },
      next: 'make room or choose another file, and run it again',
      cause,
    })
  }
}
