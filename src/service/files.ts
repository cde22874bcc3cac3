import { closeSync, fchmodSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { decodeHex, encodeHex } from '../encoding/index.ts'
import { Secret } from '../telemetry/index.ts'
import { ServiceError } from './error.ts'

/** The database of a data folder. */
export const DATABASE_FILE = 'quorate.db'

/** What an operator has changed, in a data folder. */
export const OPERATOR_FILE = 'operator.json'

/** Rights of everything in a data folder: its owner's alone. */
export const OWNER_ONLY = 0o600

const MASTER_KEY_LENGTH = 32
const OTHERS = 0o077

/** Writes a file so that a crash leaves the old one or the new one, whole and on disk. */
export function writeWhole(path: string, text: string): void {
  const beside = `${path}.new`
  const file = openSync(beside, 'w', OWNER_ONLY)
  try {
    fchmodSync(file, OWNER_ONLY)
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(beside, path)
  syncFolder(dirname(path))
}

/** A rename is on disk only when its folder is. */
function syncFolder(folder: string): void {
  const file = openSync(folder, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Reads a file that may be missing. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Checks a master key that was given, and copies it. Throws `service/master-key-invalid`. */
export function checkMasterKey(key: Secret<Uint8Array>): Secret<Uint8Array> {
  const bytes = key.reveal()
  if (bytes.length !== MASTER_KEY_LENGTH) {
    throw new ServiceError(
      'service/master-key-invalid',
      `expected the master key to be 32 bytes, got ${bytes.length}`,
      {
        next: 'give 32 random bytes',
      },
    )
  }
  return new Secret(Uint8Array.from(bytes))
}

/**
 * Reads the master key of a data folder. Makes one first when `create` is given, which is for an empty folder alone: a
 * new key would open nothing of what an old one sealed. Throws `service/master-key-exposed` when others than the owner
 * may read it, `service/master-key-invalid` when it is missing or no key.
 */
export function readMasterKey(path: string, create?: (length: number) => Uint8Array): Secret<Uint8Array> {
  if (create && readIfThere(path) === undefined) writeWhole(path, `${encodeHex(create(MASTER_KEY_LENGTH))}\n`)
  const text = readIfThere(path)?.trim()
  if (text === undefined) {
    throw new ServiceError('service/master-key-invalid', `the master key file \`${path}\` is missing`, {
      facts: { path },
      next: 'put the master key that this data folder was made with back into its place',
    })
  }
  const mode = statSync(path).mode & 0o777
  if (mode & OTHERS) {
    const seen = `0${mode.toString(8)}`
    throw new ServiceError('service/master-key-exposed', `the master key file \`${path}\` has mode ${seen}`, {
      facts: { path, mode: seen },
      next: `run \`chmod 600 ${path}\``,
    })
  }
  if (!/^[0-9a-f]{64}$/.test(text)) {
    const message = `expected 64 hex digits in the master key file \`${path}\`, got ${text.length} characters`
    throw new ServiceError('service/master-key-invalid', message, {
      facts: { path },
      next: 'put the master key that this data folder was made with back into its place',
    })
  }
  return new Secret(decodeHex(text))
}
