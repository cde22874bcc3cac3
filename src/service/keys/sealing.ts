import { hmacSha256, type RandomBytes, type SealingKey, seal, sealingKey, unseal } from '../../crypto/index.ts'
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

/** A seal whose key can change while it works. Keys are named by `nameOfKey`. */
export interface Keyring extends Sealing {
  /** The key that it seals with. */
  sealsWith(): string
  has(name: string): boolean
  /** The keys that it opens with. */
  names(): readonly string[]
  /** Has it open what another key has sealed too. */
  add(key: Secret<Uint8Array>): string
  /** Seals with a key that it has. */
  sealWith(name: string): void
  /** Runs before other keys are forgotten: what is kept in memory is to be sealed anew by then. */
  beforeForgetting(work: () => void): void
  /** Forgets all keys but the one that it seals with. */
  forgetOthers(): void
  /** Seals a value anew; undefined where it is sealed under the newest key. Throws `service/seal-broken`. */
  reseal(sealed: Uint8Array, place: SealedPlace): Uint8Array | undefined
}

/** What a key is for when it is named: no key of anything else. */
const NAMES = 'the name of a master key'

/** Names a master key, so that nothing is told of it. */
export function nameOfKey(key: Secret<Uint8Array>): string {
  return encodeHex(hmacSha256(key.reveal(), NAMES)).slice(0, 16)
}

/** What the key of fingerprints is for, so that it is no key of anything else. */
const FINGERPRINTS = 'fingerprints of requests that hold a card'

interface OneKey {
  readonly name: string
  readonly key: SealingKey
  readonly secret: Secret<Uint8Array>
}

/** Creates the seal of everything secret in the database, under the master key. */
export function createSealing(masterKey: Secret<Uint8Array>, randomBytes: RandomBytes): Keyring {
  const read = (secret: Secret<Uint8Array>): OneKey => ({
    name: nameOfKey(secret),
    key: sealingKey(secret.reveal()),
    secret,
  })
  let current = read(masterKey)
  let others: readonly OneKey[] = []
  const kept: (() => void)[] = []
  const sealUnder = (plain: Uint8Array, place: SealedPlace) => {
    try {
      return seal(current.key, plain, toAdditionalData(place), randomBytes)
    } finally {
      plain.fill(0)
    }
  }
  const open = (sealed: Uint8Array, place: SealedPlace) => {
    let cause: unknown
    for (const each of [current, ...others]) {
      try {
        return { plain: unseal(each.key, sealed, toAdditionalData(place)), by: each }
      } catch (error) {
        cause ??= error
      }
    }
    throw notOpened(place, cause)
  }
  return {
    seal: sealUnder,
    unseal: (sealed, place) => open(sealed, place).plain,
    keyedFingerprint: (fingerprint) =>
      `sha256:${encodeHex(hmacSha256(hmacSha256(current.secret.reveal(), FINGERPRINTS), fingerprint))}`,
    sealsWith: () => current.name,
    has: (name) => [current, ...others].some((each) => each.name === name),
    names: () => [current, ...others].map(({ name }) => name),
    add(secret) {
      const key = read(secret)
      if (![current, ...others].some(({ name }) => name === key.name)) others = [...others, key]
      return key.name
    },
    sealWith(name) {
      const all = [current, ...others]
      current = all.find((each) => each.name === name)!
      others = all.filter((each) => each !== current)
    },
    beforeForgetting: (work) => void kept.push(work),
    forgetOthers() {
      for (const work of kept) work()
      others = []
    },
    reseal(sealed, place) {
      const { plain, by } = open(sealed, place)
      if (by !== current) return sealUnder(plain, place)
      plain.fill(0)
      return undefined
    },
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
    next: 'give the master key that this folder was made with; where it was rotated, that is `master.key` of another process or of a later backup',
    cause,
  })
}
