import { createP256Signer, type P256Signer } from '../crypto/index.ts'
import { encodeBase64Url, encodeUtf8 } from '../encoding/index.ts'
import type { Secret } from '../telemetry/index.ts'
import { keyMalformed, keyMismatch } from './key-errors.ts'
import type { SignatureScheme } from './schemes.ts'

/** The header that proves who made a request. */
export interface StampHeader {
  readonly name: 'X-Stamp'
  readonly value: string
}

/** Makes stamps with one credential, wherever its private key is kept. */
export interface Stamper {
  /** Lower-case hex. */
  readonly publicKey: string
  /** Stamps exactly these bytes; what is sent must be the same ones. */
  stamp(body: Uint8Array): Promise<StampHeader>
}

/**
 * Creates a stamper of a P-256 API key. Throws `stamp/key-malformed`, or `stamp/key-mismatch` when the public key given
 * is not the private key's.
 */
export function createApiKeyStamper(key: { readonly privateKey: Secret; readonly publicKey?: string }): Stamper {
  const signer = openSigner(key.privateKey)
  if (key.publicKey !== undefined && key.publicKey.toLowerCase() !== signer.publicKey) {
    throw keyMismatch('the stamping key', { expected: key.publicKey, got: signer.publicKey })
  }
  const scheme: SignatureScheme = 'SIGNATURE_SCHEME_TK_API_P256'
  return {
    publicKey: signer.publicKey,
    async stamp(body) {
      // The member order of the published TypeScript client (facts: protocol §3.1).
      const stamp = JSON.stringify({ publicKey: signer.publicKey, scheme, signature: signer.sign(body) })
      return { name: 'X-Stamp', value: encodeBase64Url(encodeUtf8(stamp)) }
    },
  }
}

function openSigner(privateKey: Secret): P256Signer {
  try {
    return createP256Signer(privateKey.reveal())
  } catch (error) {
    throw keyMalformed('the stamping key', error instanceof Error ? error.message : 'it is no key')
  }
}
