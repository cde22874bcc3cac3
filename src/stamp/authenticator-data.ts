import type { Bytes } from '../encoding/index.ts'

/** The authenticator data of every signature (WebAuthn §6.1). */
export interface AuthenticatorData {
  /** SHA-256 of the relying party's id. */
  readonly rpIdHash: Bytes
  readonly userPresent: boolean
  readonly userVerified: boolean
  /** Whether the credential may be copied to other devices, which is fixed at its creation; and whether it has been. */
  readonly backupEligible: boolean
  readonly backedUp: boolean
  /** Synced passkeys report 0. */
  readonly signCount: number
}

const FLAGS = {
  userPresent: 0x01,
  userVerified: 0x04,
  backupEligible: 0x08,
  backedUp: 0x10,
  attested: 0x40,
  extensions: 0x80,
}
/** Hash (32), flags (1), counter (4). */
const LENGTH = 37

/** Parses the head of authenticator data; `undefined` if it is cut off, or has more than its flags announce. */
export function parseAuthenticatorData(bytes: Uint8Array): AuthenticatorData | undefined {
  if (bytes.length < LENGTH) return undefined
  const flags = bytes[32]!
  const has = (flag: number) => (flags & flag) !== 0
  const announcesMore = has(FLAGS.attested) || has(FLAGS.extensions)
  const hasMore = bytes.length > LENGTH
  if (hasMore !== announcesMore) return undefined
  return {
    rpIdHash: new Uint8Array(bytes.slice(0, 32)),
    userPresent: has(FLAGS.userPresent),
    userVerified: has(FLAGS.userVerified),
    backupEligible: has(FLAGS.backupEligible),
    backedUp: has(FLAGS.backedUp),
    signCount: new DataView(bytes.buffer, bytes.byteOffset).getUint32(33),
  }
}
