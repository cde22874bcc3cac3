/**
 * Keys of the service that sign and are followed by others: one signs at a time. Those who verify keep the list of them for a
 * while, so that a new key is published that long before it signs, and the one before it is listed that much longer than it has
 * signed (docs/protocol/webhooks.md#signature-and-keys, docs/protocol/oauth.md#the-services-own-issuer).
 */
import type { RandomBytes } from '../../crypto/index.ts'
import {
  type Database,
  deleteServiceKey,
  insertServiceKey,
  listServiceKeys,
  lockInstallation,
  type ServiceKeyRow,
} from '../store/index.ts'
import type { Keyring } from './sealing.ts'
import { serviceKeyPlace } from './service-keys.ts'

export interface RotatingKeys {
  /** The public halves that are published, in hex. */
  published(): readonly string[]
  /** Opens the key of the moment, lets `use` sign with it, and wipes it. INVARIANT: it must not be kept beyond `use`. */
  withKey<Result>(use: (key: { readonly publicKey: string; readonly privateKey: Uint8Array }) => Result): Result
}

/**
 * Makes the first key where there is none, the next one where that is asked for and none waits to be used, and forgets
 * those that are no longer listed. Throws `service/seal-broken`.
 */
export async function prepareRotatingKeys(
  tools: {
    readonly database: Database
    readonly sealing: Keyring
    readonly randomBytes: RandomBytes
    readonly clock: () => number
  },
  options: {
    /** What the names of these keys begin with; a number of six digits follows, by which names sort. */
    readonly prefix: string
    /** How long those who verify may keep the list: said with it, and waited for. */
    readonly keptS: number
    readonly rotate: boolean
    readonly create: (randomBytes: RandomBytes) => { readonly privateKey: Uint8Array; readonly publicKey: string }
  },
): Promise<RotatingKeys> {
  const { database, sealing, randomBytes, clock } = tools
  const { prefix, rotate } = options
  const keptMs = options.keptS * 1_000
  const keys = await database.write(async (tx) => {
    await lockInstallation(tx)
    const now = clock()
    const found = (await listServiceKeys(tx)).filter(({ name }) => name.startsWith(prefix))
    const listed = listedAt(found, now, keptMs)
    for (const { name } of found.filter((key) => !listed.includes(key))) await deleteServiceKey(tx, name)
    const newest = listed.at(-1)
    if (newest !== undefined && !(rotate && newest === usedAt(listed, now, keptMs))) return listed
    const number = newest === undefined ? 0 : Number(newest.name.slice(prefix.length))
    const name = `${prefix}${String(number + 1).padStart(6, '0')}`
    const { privateKey, publicKey } = options.create(randomBytes)
    const sealed_private_key = sealing.seal(privateKey, serviceKeyPlace(name))
    const key = { name, public_key: publicKey, sealed_private_key, created_at: now }
    await insertServiceKey(tx, key)
    return [...listed, key]
  })
  sealing.beforeForgetting(() => {
    for (const key of keys)
      key.sealed_private_key =
        sealing.reseal(key.sealed_private_key, serviceKeyPlace(key.name)) ?? key.sealed_private_key
  })
  return {
    published: () => listedAt(keys, clock(), keptMs).map((key) => key.public_key),
    withKey(use) {
      const { name, public_key: publicKey, sealed_private_key } = usedAt(keys, clock(), keptMs)
      const privateKey = sealing.unseal(sealed_private_key, serviceKeyPlace(name))
      try {
        return use({ publicKey, privateKey })
      } finally {
        privateKey.fill(0)
      }
    },
  }
}

/** From when on a key signs: the first at once, any other when nobody has a list without it. */
function usedFrom(keys: readonly ServiceKeyRow[], key: ServiceKeyRow, keptMs: number): number {
  return key === keys[0] ? 0 : key.created_at + keptMs
}

function usedAt(keys: readonly ServiceKeyRow[], now: number, keptMs: number): ServiceKeyRow {
  return keys.findLast((key) => usedFrom(keys, key, keptMs) <= now)!
}

/** A key is listed until its successor has signed for as long as the list is kept. */
function listedAt(keys: readonly ServiceKeyRow[], now: number, keptMs: number): readonly ServiceKeyRow[] {
  return keys.filter((_, index) => {
    const next = keys[index + 1]
    return next === undefined || now < usedFrom(keys, next, keptMs) + keptMs
  })
}
