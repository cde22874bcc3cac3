import { sha256 } from '../crypto/index.ts'
import { decodeHex, encodeBase64Url } from '../encoding/index.ts'

/** The id of a signing key: its thumbprint (RFC 7638, RFC 8037 §2), which no other key has. `publicKey` is hex, 32 bytes. */
export function webhookKeyId(publicKey: string): string {
  // The members that are required, in the order of their names (RFC 7638 §3).
  return encodeBase64Url(sha256(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: toX(publicKey) })))
}

/** Writes a signing key for the list that receivers fetch. `publicKey` is hex, 32 bytes. */
export function toWebhookJwk(publicKey: string) {
  return {
    kid: webhookKeyId(publicKey),
    kty: 'OKP',
    crv: 'Ed25519',
    alg: 'EdDSA',
    use: 'sig',
    x: toX(publicKey),
    turnkey_signature_algorithm: 'ed25519',
    turnkey_signature_version: 'v1',
  }
}

function toX(publicKey: string): string {
  return encodeBase64Url(decodeHex(publicKey))
}
