import { type DeliveryVerdict, verifyDelivery } from '../webhook/index.ts'
import { fetchWebhookKeys } from './webhook-keys.ts'
import type { CameIn } from './webhook-receiver.ts'

/** How far a webhook's time may be from the service's. */
const WINDOW_MS = 300_000

/** Whoever sends what names an unknown key has them asked for no more often. */
const REFETCH_MS = 10_000

/** Makes what verifies webhooks by the keys that the service publishes; asks again for those that it does not know. Throws `cli/webhook-keys`. */
export function createVerifier({
  baseUrl,
  now,
}: {
  readonly baseUrl: string
  readonly now: () => number
}): (came: CameIn) => Promise<DeliveryVerdict> {
  let keys: ReturnType<typeof fetchWebhookKeys> | undefined
  let askedAt = 0
  const ask = () => {
    askedAt = performance.now()
    keys = fetchWebhookKeys(baseUrl)
    keys.catch(() => {
      keys = undefined
    })
    return keys
  }
  return async (came) => {
    const verify = async (known: ReturnType<typeof fetchWebhookKeys>) =>
      verifyDelivery(came, { keys: await known, now: now(), mostAgeMs: WINDOW_MS })
    const isFresh = keys === undefined
    const verdict = await verify(keys ?? ask())
    const isUnknown = !verdict.ok && verdict.reason === 'missing_key'
    return isUnknown && !isFresh && performance.now() - askedAt > REFETCH_MS ? verify(ask()) : verdict
  }
}
