import { hpkeSeal, uncompressP256 } from '../../crypto/index.ts'
import { decodeHex, encodeHex } from '../../encoding/index.ts'
import { apiError } from '../../protocol/index.ts'
import type { HandlerContext } from '../engine/index.ts'
import { signBundle } from './bundle.ts'

/** Reads the key that something is to be exported to: P-256 in hex, compressed or not. Throws the refusal of another. */
export function readTargetPublicKey(text: string): Uint8Array {
  const key = uncompressP256(text.replace(/^0x/i, ''))
  // Unstated: the text.
  if (key === undefined) throw apiError('invalidField', 'targetPublicKey', 'must be a P-256 public key in hex')
  return decodeHex(key)
}

/**
 * Encrypts secret bytes to the target key, in a bundle as public clients open it
 * (docs/protocol/bundles.md#export-bundles), and wipes them.
 */
export async function makeExportBundle(
  context: HandlerContext,
  { secret, targetPublicKey }: { readonly secret: Uint8Array; readonly targetPublicKey: string },
): Promise<string> {
  const { organizationId, randomBytes } = context
  try {
    const message = await hpkeSeal(readTargetPublicKey(targetPublicKey), secret, randomBytes)
    return await signBundle(context, {
      encappedPublic: encodeHex(message.encappedPublic),
      ciphertext: encodeHex(message.ciphertext),
      organizationId,
    })
  } finally {
    secret.fill(0)
  }
}
