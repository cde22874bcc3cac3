import type { Stamp } from './read.ts'
import { SCHEMES } from './schemes.ts'

/**
 * Whether the stamp's key signed exactly these bytes: the raw body of the request, before any parsing. Says nothing of
 * whose key it is.
 */
export function verifyStamp(stamp: Stamp, body: Uint8Array): boolean {
  const { publicKey, scheme, signature } = stamp
  return SCHEMES[scheme].verify({ publicKey, body, signatureHex: signature })
}

/** As `verifyStamp`, beside the main thread: the body must stay as it is until then. */
export function verifyStampInPool(stamp: Stamp, body: Uint8Array): Promise<boolean> {
  const { publicKey, scheme, signature } = stamp
  return SCHEMES[scheme].verifyInPool({ publicKey, body, signatureHex: signature })
}
