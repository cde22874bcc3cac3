import type { Stamp } from './read.ts'
import { findScheme } from './schemes.ts'

/**
 * Whether the stamp's key signed exactly these bytes: the raw body of the request, before any parsing. Says nothing of
 * whose key it is.
 */
export function verifyStamp(stamp: Stamp, body: Uint8Array): boolean {
  const { publicKey, signature } = stamp
  return findScheme(stamp.scheme)?.verify?.({ publicKey, body, signatureDerHex: signature }) ?? false
}
