import { uncompressP256 } from '../../../crypto/index.ts'
import { apiError } from '../../../protocol/index.ts'

/** Characters of one key in hex, uncompressed. */
const KEY_LENGTH = 130

/** The two keys of an operator, of an app's quorum and of an enclave, in lower-case hex. */
export interface TvcKeys {
  readonly encryptKey: string
  readonly signKey: string
}

/** Takes a public key of 130 bytes apart. */
export function splitTvcKey(publicKey: string): TvcKeys {
  return { encryptKey: publicKey.slice(0, KEY_LENGTH), signKey: publicKey.slice(KEY_LENGTH) }
}

/** Reads one P-256 key in hex; throws the refusal of what is none, or is not uncompressed. */
export function readTvcKey(field: string, text: string): string {
  const key = text.length === KEY_LENGTH ? uncompressP256(text) : undefined
  if (key === undefined) throw apiError('invalidField', field, 'must be an uncompressed P-256 public key in hex')
  return key
}

/** Reads a public key of 130 bytes in hex; throws the refusal of what is none. */
export function readTvcKeys(field: string, text: string): string {
  const { encryptKey, signKey } = splitTvcKey(text)
  const isRead = [encryptKey, signKey].every((key) => key.length === KEY_LENGTH && uncompressP256(key) !== undefined)
  if (isRead && encryptKey !== signKey) return text.toLowerCase()
  throw apiError(
    'invalidField',
    field,
    'must be two uncompressed P-256 public keys in hex: the one to encrypt to, then the one that signs',
  )
}
