/**
 * The keys that webhooks are signed with: one at a time for the whole service
 * (docs/protocol/webhooks.md#signature-and-keys). Receivers keep the list of them for a day, so that a new key is
 * published a day before it signs, and the one before it is listed a day longer than it has signed. Every attempt is
 * signed anew: what is tried again after a change has the new key.
 */
import { createPrivateKey } from '../../chain/index.ts'
import type { RandomBytes } from '../../crypto/index.ts'
import type { JsonObject } from '../../protocol/index.ts'
import { toWebhookJwk, type WebhookSigningKey, webhookKeyId } from '../../webhook/index.ts'
import { type Sealing, serviceKeyPlace } from '../keys/index.ts'
import {
  type Database,
  deleteServiceKey,
  insertServiceKey,
  listServiceKeys,
  type ServiceKeyRow,
} from '../store/index.ts'

/** How long receivers may keep the list: said with it, and waited for. */
export const KEYS_ARE_KEPT_S = 86_400

/** What the names of these keys begin with; a number of six digits follows, by which names sort. */
const PREFIX = 'webhook-'

export interface WebhookKeys {
  /** The list that receivers fetch. */
  published(): JsonObject
  /** Opens the key of the moment, lets `use` sign with it, and wipes it. INVARIANT: it must not be kept beyond `use`. */
  withKey<Result>(use: (key: WebhookSigningKey) => Result): Result
}

/**
 * Makes the first key where there is none, the next one where that is asked for and none waits to be used, and forgets
 * those that are no longer listed. Throws `service/seal-broken`.
 */
export async function prepareWebhookKeys(
  tools: {
    readonly database: Database
    readonly sealing: Sealing
    readonly randomBytes: RandomBytes
    readonly clock: () => number
  },
  { rotate }: { readonly rotate: boolean },
): Promise<WebhookKeys> {
  const { database, sealing, randomBytes, clock } = tools
  const keys = await database.write(async (tx) => {
    const now = clock()
    const found = (await listServiceKeys(tx)).filter(({ name }) => name.startsWith(PREFIX))
    const listed = listedAt(found, now)
    for (const { name } of found.filter((key) => !listed.includes(key))) await deleteServiceKey(tx, name)
    const newest = listed.at(-1)
    if (newest !== undefined && !(rotate && newest === usedAt(listed, now))) return listed
    const name = `${PREFIX}${String(numberOf(newest) + 1).padStart(6, '0')}`
    const { privateKey, publicKey } = createPrivateKey('CURVE_ED25519', randomBytes)
    const sealed_private_key = sealing.seal(privateKey, serviceKeyPlace(name))
    const key = { name, public_key: publicKey, sealed_private_key, created_at: now }
    await insertServiceKey(tx, key)
    return [...listed, key]
  })
  return {
    published: () => ({ keys: listedAt(keys, clock()).map((key) => toWebhookJwk(key.public_key)) }),
    withKey(use) {
      const key = usedAt(keys, clock())
      const seed = sealing.unseal(key.sealed_private_key, serviceKeyPlace(key.name))
      try {
        return use({ keyId: webhookKeyId(key.public_key), seed })
      } finally {
        seed.fill(0)
      }
    },
  }
}

/** From when on a key signs: the first at once, any other when no receiver has a list without it. */
function usedFrom(keys: readonly ServiceKeyRow[], key: ServiceKeyRow): number {
  return key === keys[0] ? 0 : key.created_at + KEYS_ARE_KEPT_S * 1_000
}

function usedAt(keys: readonly ServiceKeyRow[], now: number): ServiceKeyRow {
  return keys.findLast((key) => usedFrom(keys, key) <= now)!
}

/** A key is listed until its successor has signed for as long as the list is kept. */
function listedAt(keys: readonly ServiceKeyRow[], now: number): readonly ServiceKeyRow[] {
  return keys.filter((_, index) => {
    const next = keys[index + 1]
    return next === undefined || now < usedFrom(keys, next) + KEYS_ARE_KEPT_S * 1_000
  })
}

function numberOf(key: ServiceKeyRow | undefined): number {
  return key === undefined ? 0 : Number(key.name.slice(PREFIX.length))
}
