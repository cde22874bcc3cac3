import { decodeUtf8, encodeUtf8 } from '../../encoding/index.ts'
import type { Sealing } from '../keys/index.ts'
import { insertMessage, type MessageRow } from '../resources/messages/store.ts'
import type { Transaction } from '../store/index.ts'
import type { Message, Outgoing } from './message.ts'

/**
 * Writes what is to be sent, sealed. INVARIANT: in the transaction of its activity, so that neither is there without the
 * other; the messenger is woken once that is committed.
 * @param expiresAt from when on it says nothing that still serves
 */
export async function recordMessage(
  context: {
    readonly tx: Transaction
    readonly organizationId: string
    readonly now: number
    readonly newId: () => string
    readonly seal: Sealing['seal']
  },
  content: Message,
  expiresAt: number,
): Promise<void> {
  const { tx, organizationId, now } = context
  const id = context.newId()
  await insertMessage(tx, {
    id,
    organization_id: organizationId,
    sealed_content: context.seal(encodeUtf8(JSON.stringify(content)), placeOf(id)),
    attempts: 0,
    next_attempt_at: now,
    expires_at: expiresAt,
    created_at: now,
  })
}

/** Opens a message that waits. Throws `service/seal-broken`. */
export function openMessage(unseal: Sealing['unseal'], row: MessageRow): Outgoing {
  const plain = unseal(row.sealed_content, placeOf(row.id))
  try {
    const content = JSON.parse(decodeUtf8(plain)) as Message
    return { id: row.id, organizationId: row.organization_id, createdAt: row.created_at, content }
  } finally {
    plain.fill(0)
  }
}

function placeOf(id: string) {
  return { table: 'messages', id, column: 'sealed_content' }
}
