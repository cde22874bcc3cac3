import { decodeHex, encodeHex } from '../../encoding/index.ts'
import { readPrivate, writePrivate } from '../../local/index.ts'
import { Secret } from '../../telemetry/index.ts'
import { ServiceError } from '../error.ts'
import { keyExposed } from '../master-key/index.ts'

/** The database of a data folder. */
export const DATABASE_FILE = 'quorate.db'

/** The key that everything sealed in the database opens with, in a data folder. */
export const MASTER_KEY_FILE = 'master.key'

/** The key that is to take its place, while one does (docs/master-key.md#another-key). */
export const NEXT_KEY_FILE = 'master.key.next'

/** What an operator has changed, in a data folder. */
export const OPERATOR_FILE = 'operator.json'

/** Rights of everything in a data folder: its owner's alone. */
export const OWNER_ONLY = 0o600

export const MASTER_KEY_LENGTH = 32

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
 * Reads the master key of a data folder. Makes one first when `create` is given, which is for a first start alone: a new key
 * would open nothing of what an old one sealed. Throws `service/master-key-exposed` when others than its owner may read or
 * replace it, `service/master-key-invalid` when it is missing or no key.
 */
export function readMasterKey(path: string, create?: (length: number) => Uint8Array): Secret<Uint8Array> {
  const read = () => readPrivate(path, { refusal: keyExposed })?.trim()
  if (create && read() === undefined) writePrivate(path, `${encodeHex(create(MASTER_KEY_LENGTH))}\n`)
  const text = read()
  const next = 'put the master key that this folder was made with back into its place'
  if (text === undefined) {
    throw new ServiceError('service/master-key-invalid', `the master key file \`${path}\` is missing`, {
      facts: { path },
      next,
    })
  }
  if (!/^[0-9a-f]{64}$/.test(text)) {
    const message = `expected 64 hex digits in the master key file \`${path}\`, got ${text.length} characters`
    throw new ServiceError('service/master-key-invalid', message, { facts: { path }, next })
  }
  return new Secret(decodeHex(text))
}
