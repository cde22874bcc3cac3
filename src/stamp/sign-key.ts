/**
 * API keys that never leave where they are kept, and that quorate asks by itself: a key management service or a token signs the
 * digest of each request. Client libraries are loaded when a key names their keeper; none is a dependency.
 */
import { encodeDerSignature, parseDerSignature, sha256 } from '../crypto/index.ts'
import { messageOf, QuorateError } from '../diagnostics/index.ts'
import { encodeHex } from '../encoding/index.ts'
import type { KeeperTools } from '../keepers/index.ts'
import type { OpenKeeperKey, SignDigest } from './keeper-key.ts'
import { SCHEMES } from './schemes.ts'

/** A P-256 key of a keeper. */
export interface KeeperKey {
  /**
   * `aws-kms:KEY`, `gcp-kms:projects/…/cryptoKeyVersions/N`, `vault:MOUNT/KEY`, or
   * `pkcs11:token=T;object=K?module-path=…&pin-source=file:…` (RFC 7512).
   */
  readonly signKey: string
  /** Lower-case hex of the compressed point. */
  readonly publicKey: string
  readonly curve: 'p256'
  readonly tools: KeeperTools
}

/** Loaded when a key names them, and never else. */
const KEEPERS: Readonly<Record<string, () => Promise<OpenKeeperKey>>> = {
  'aws-kms': async () => (await import('./sign-by-aws-kms.ts')).openAwsKmsKey,
  'gcp-kms': async () => (await import('./sign-by-gcp-kms.ts')).openGcpKmsKey,
  vault: async () => (await import('./sign-by-vault.ts')).openVaultKey,
  pkcs11: async () => (await import('./sign-by-pkcs11.ts')).openPkcs11Key,
}

/**
 * Makes what signs bodies with a keeper's key, in the form of the plain scheme of P-256: hex of DER with the lower `s`. The keeper
 * is reached when the first body is signed, and anew after a fault. Each signature is checked with the public key before it is
 * used. Signing throws `stamp/sign-key-failed` and `stamp/sign-key-mismatch`; neither shows what the keeper answered.
 */
export function createKeeperSigner(key: KeeperKey): (body: Uint8Array) => Promise<string> {
  let opened: Promise<SignDigest> | undefined
  const open = async () => {
    const at = key.signKey.indexOf(':')
    const load = KEEPERS[key.signKey.slice(0, at)]
    if (!load) throw new Error('no such keeper')
    return (await load())(key.signKey.slice(at + 1), key.tools)
  }
  return async (body) => {
    let signed: Uint8Array
    try {
      opened ??= open()
      signed = await (await opened)(sha256(body))
    } catch (error) {
      opened = undefined
      throw signFailed(key, error)
    }
    const signatureHex = lowerForm(signed)
    const { verify } = SCHEMES.SIGNATURE_SCHEME_TK_API_P256
    if (signatureHex !== undefined && verify({ publicKey: key.publicKey, body, signatureHex })) return signatureHex
    throw mismatch(key)
  }
}

/** The order of the group of P-256 (SEC 2, §2.4.2). */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** Of the two signatures that hold, the one with the lower `s`, in DER. */
function lowerForm(signed: Uint8Array): string | undefined {
  const halves = signed.length === 64 ? signed : parseDerSignature(signed)
  if (!halves) return undefined
  const s = BigInt(`0x${encodeHex(halves.subarray(32))}`)
  if (s <= ORDER / 2n) return encodeHex(encodeDerSignature(halves))
  const lower = Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex')
  return encodeHex(encodeDerSignature(Buffer.concat([halves.subarray(0, 32), lower])))
}

function signFailed({ signKey, publicKey }: KeeperKey, error: unknown): QuorateError {
  const why = messageOf(error)
  return new QuorateError('stamp/sign-key-failed', `the key ${named(signKey)} did not sign: ${why.split('\n')[0]}`, {
    facts: { 'public key': publicKey, submitted: 'nothing by this request' },
    next: 'see whether the keeper is reached from here, and lets these credentials sign (docs/keys.md)',
    cause: error,
  })
}

function mismatch({ signKey, publicKey }: KeeperKey): QuorateError {
  return new QuorateError('stamp/sign-key-mismatch', `what the key ${named(signKey)} signed is not of its public key`, {
    facts: { 'public key': publicKey, submitted: 'nothing by this request' },
    next: 'give the public key of this very key and version, on P-256',
  })
}

/** Without where the PIN and the module are. */
const named = (signKey: string) => signKey.split('?')[0]!
