import { hmacSha256, type RandomBytes, seal, sealingKey, unseal } from '../../crypto/index.ts'
import { encodeHex } from '../../encoding/index.ts'
import type { Secret } from '../../telemetry/index.ts'
import { ServiceError } from '../error.ts'

/** The row of a sealed value; part of the seal, so that sealed values cannot be swapped between rows. */
export interface SealedPlace {
  readonly table: string
  readonly id: string
  readonly column: string
}

/** Seals bytes for one place and opens them there, and nowhere else. */
export interface Sealing {
  /** Seals bytes and wipes them: what is sealed is kept nowhere else. */
  readonly seal: (plain: Uint8Array, place: SealedPlace) => Uint8Array
  /** Opens what was sealed; the caller's to wipe. */
  readonly unseal: (sealed: Uint8Array, place: SealedPlace) => Uint8Array
  /** Gives another fingerprint for one of bytes that could be guessed: the same always, and of no use without the key. */
  readonly keyedFingerprint: (fingerprint: string) => string
}

/** What the key of fingerprints is for, so that it is no key of anything else. */
const FINGERPRINTS = 'fingerprints of requests that hold a card'

/** Creates the seal of everything secret in the database, under the master key. */
export function createSealing(masterKey: Secret<Uint8Array>, randomBytes: RandomBytes): Sealing {
  const key = sealingKey(masterKey.reveal())
  return {
    seal(plain, place) {
      try {
        return seal(key, plain, toAdditionalData(place), randomBytes)
      } finally {
        plain.fill(0)
      }
    },
    unseal(sealed, place) {
      try {
        return unseal(key, sealed, toAdditionalData(place))
      } catch (cause) {
        throw notOpened(place, cause)
      }
    },
    keyedFingerprint: (fingerprint) =>
      `sha256:${encodeHex(hmacSha256(hmacSha256(masterKey.reveal(), FINGERPRINTS), fingerprint))}`,
  }
}

/** A JSON list, so that no two places have the same text. */
function toAdditionalData(place: SealedPlace): string {
  return JSON.stringify([place.table, place.id, place.column])
}

function notOpened(place: SealedPlace, cause: unknown): ServiceError {
  const where = `${place.table}.${place.column} of ${place.id}`
  return new ServiceError('service/seal-broken', `the sealed value in ${where} does not open with this master key`, {
    facts: { ...place },
    next: 'give the master key that this folder was made with',
    cause,
  })
}
