import type { ExecutionContext } from '../../engine/index.ts'
import { insertSend, type SendRow } from './store.ts'

type Asked = Pick<SendRow, 'caip2' | 'sender'> & Partial<Pick<SendRow, 'account' | 'nonce' | 'hash'>>

/** Notes a send that the sender is to carry out, has it woken for that, and returns the send's id; `request` is kept as JSON. */
export async function acceptSend(
  { tx, organizationId, activityId, now, newId, afterCommit }: ExecutionContext,
  { request, ...asked }: Asked & { readonly request: object },
): Promise<string> {
  const id = newId()
  await insertSend(tx, {
    id,
    organization_id: organizationId,
    activity_id: activityId,
    request: JSON.stringify(request),
    status: 'INITIALIZED',
    nonce: null,
    hash: null,
    failure: null,
    created_at: now,
    updated_at: now,
    ...asked,
  })
  afterCommit('wakeSender')
  return id
}
