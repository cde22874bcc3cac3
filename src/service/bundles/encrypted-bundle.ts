import { type HpkeMessage, uncompressP256 } from '../../crypto/index.ts'
import { decodeHex, isHex } from '../../encoding/index.ts'
import { type ApiError, apiError } from '../../protocol/index.ts'

/** What a client has encrypted to a key that it was given in a bundle. */
export type EncryptedBundle = HpkeMessage

/** Reads `{"encappedPublic":"<hex>","ciphertext":"<hex>"}`; other members are ignored. Throws the refusal of anything else. */
export function readEncryptedBundle(text: string, field: string): EncryptedBundle {
  const bundle = parse(text, field)
  const encappedPublic = uncompressP256(String(bundle['encappedPublic'] ?? ''))
  const ciphertext = bundle['ciphertext']
  if (encappedPublic === undefined || typeof ciphertext !== 'string' || !isHex(ciphertext)) throw notABundle(field)
  return { encappedPublic: decodeHex(encappedPublic), ciphertext: decodeHex(ciphertext) }
}

function parse(text: string, field: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // Said below.
  }
  throw notABundle(field)
}

function notABundle(field: string): ApiError {
  return apiError('invalidField', field, 'must be JSON with `encappedPublic` and `ciphertext` in hex')
}
