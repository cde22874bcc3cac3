import { sha256 } from '../../crypto/index.ts'
import { encodeHex } from '../../encoding/index.ts'
import type { JsonObject, Wire } from '../../protocol/index.ts'
import { findBillingOrganization } from '../resources/organizations/store.ts'
import type { SendRow } from '../resources/sends/store.ts'
import { bodyOf, type Producer } from './event.ts'

/** Tells the billing organization the new status of a send (docs/protocol/webhooks.md#status-of-sends). */
export const produceSendStatus: Producer<SendRow> = async (tx, send) => {
  const { id, organization_id, activity_id, caip2, status, hash, failure, updated_at } = send
  const organizationId = await findBillingOrganization(tx, organization_id)
  const body: JsonObject = {
    type: 'transaction:status',
    organizationId: organization_id,
    parentOrganizationId: organizationId,
    msg: {
      sendTransactionStatusId: id,
      activityId: activity_id,
      status,
      caip2,
      idempotencyKey: encodeHex(sha256(`transaction:status.${id}.${status}`)),
      timestamp: Math.floor(updated_at / 1_000),
      ...(status === 'INCLUDED' ? { txHash: hash } : {}),
      ...(failure === null ? {} : { error: toErrorOfEvent(JSON.parse(failure) as Wire.TxError) }),
    },
  }
  const facts = { organizationIds: organization_id, addresses: send.sender, caip2 }
  return { organizationIds: [organizationId], at: updated_at, facts, write: bodyOf(body) }
}

/** As `get_send_transaction_status` has it, without the copy of the chain of calls that it keeps for older clients. */
function toErrorOfEvent({ revertChain: _, ...error }: Wire.TxError): JsonObject {
  return error as JsonObject
}
