/**
 * The keys that webhooks are signed with: one at a time for the whole service
 * (docs/protocol/webhooks.md#signature-and-keys). Every attempt is signed anew: what is tried again after a change has the
 * new key.
 */
import { createPrivateKey } from '../../chain/index.ts'
import type { JsonObject } from '../../protocol/index.ts'
import { toWebhookJwk, type WebhookSigningKey, webhookKeyId } from '../../webhook/index.ts'
import { prepareRotatingKeys } from '../keys/index.ts'

/** How long receivers may keep the list: said with it, and waited for. */
export const KEYS_ARE_KEPT_S = 86_400

export interface WebhookKeys {
  /** The list that receivers fetch. */
  published(): JsonObject
  /** Opens the key of the moment, lets `use` sign with it, and wipes it. INVARIANT: it must not be kept beyond `use`. */
  withKey<Result>(use: (key: WebhookSigningKey) => Result): Result
}

/** Makes the first key, or the next one where that is asked for. Throws `service/seal-broken`. */
export async function prepareWebhookKeys(
  tools: Parameters<typeof prepareRotatingKeys>[0],
  { rotate }: { readonly rotate: boolean },
): Promise<WebhookKeys> {
  const keys = await prepareRotatingKeys(tools, {
    prefix: 'webhook-',
    keptS: KEYS_ARE_KEPT_S,
    rotate,
    create: (randomBytes) => createPrivateKey('CURVE_ED25519', randomBytes),
  })
  return {
    published: () => ({ keys: keys.published().map(toWebhookJwk) }),
    withKey: (use) =>
      keys.withKey(({ publicKey, privateKey }) => use({ keyId: webhookKeyId(publicKey), seed: privateKey })),
  }
}
