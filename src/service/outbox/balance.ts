import { sha256 } from '../../crypto/index.ts'
import { encodeHex } from '../../encoding/index.ts'
import type { JsonObject } from '../../protocol/index.ts'
import type { BalanceChange } from '../resources/balances/store.ts'
import { findBillingOrganization } from '../resources/organizations/store.ts'
import { bodyOf, type Producer } from './event.ts'

/**
 * Tells the billing organization of a change of a balance (docs/protocol/webhooks.md#balances). The key is that of the change,
 * whichever block it is in: one that is confirmed again in another block is the same change.
 */
function produce(kind: 'confirmed' | 'finalized'): Producer<BalanceChange & { readonly at: number }> {
  return async (tx, { organizationId, operation, caip2, txHash, address, asset, block, at }) => {
    const parentId = await findBillingOrganization(tx, organizationId)
    const change = [organizationId, caip2, txHash, address, operation, asset.caip19].join(' ')
    const body: JsonObject = {
      type: `balances:${kind}`,
      organizationId,
      parentOrganizationId: parentId,
      msg: {
        operation,
        caip2,
        txHash,
        address,
        idempotencyKey: `${encodeHex(sha256(change))}:balances:${kind}`,
        asset: { ...asset },
        block: { ...block },
      },
    }
    const facts = { organizationIds: organizationId, addresses: address, caip2 }
    return { organizationIds: [parentId], at, facts, write: bodyOf(body) }
  }
}

export const produceConfirmed = produce('confirmed')
export const produceFinalized = produce('finalized')
