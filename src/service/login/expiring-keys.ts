import { expiresAt, isExpired } from '../../authority/index.ts'
import { resourceLimits } from '../../protocol/index.ts'
import type { HandlerContext } from '../engine/index.ts'
import { apiKeyTable } from '../resources/api-keys/store.ts'
import type { ApiKeyRow } from '../store/index.ts'

/**
 * Makes room for expiring keys of a user, and deletes what is beyond the limit: expired keys first, otherwise the oldest
 * (docs/protocol/limits.md#resources). `present` are the user's keys in the order of their creation.
 */
export async function evictExpiringKeys(
  { tx, now }: Pick<HandlerContext, 'tx' | 'now'>,
  organizationId: string,
  keys: { readonly present: readonly ApiKeyRow[]; readonly incoming: number },
): Promise<void> {
  const expiring = keys.present.filter((key) => key.expiration_seconds !== null)
  const surplus = expiring.length + keys.incoming - resourceLimits.parent.expiringApiKeysPerUser
  if (keys.incoming === 0 || surplus <= 0) return
  const [dead, alive] = [expiring.filter((key) => isPast(key, now)), expiring.filter((key) => !isPast(key, now))]
  const evicted = [...dead, ...alive].slice(0, surplus)
  await apiKeyTable.delete(
    tx,
    organizationId,
    evicted.map(({ id }) => id),
  )
}

/** Whether a key has expired at this moment. */
export function isPast(key: ApiKeyRow, now: number): boolean {
  return isExpired({ expiresAt: expiresAt(key.created_at, key.expiration_seconds) }, now)
}
