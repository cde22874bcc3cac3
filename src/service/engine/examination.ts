import type { ActivityType, JsonObject } from '../../protocol/index.ts'
import { type Database, findActivityByFingerprint, type Transaction } from '../store/index.ts'
import type { Caller } from './caller.ts'
import type { Handler, NotExecuted, Outside } from './handler.ts'
import type { SubmitRequest } from './request.ts'
import { checkSource } from './source-address.ts'

/**
 * Lets a handler ask the world outside about a request, where it has something to ask. The caller must be known first,
 * or anybody could make the service ask; bytes that are known need no second answer. Gives what is stored with the activity.
 * Throws `ApiError`.
 */
export async function examine(
  options: {
    readonly database: Database
    readonly handlers: Readonly<Record<ActivityType, Handler | NotExecuted>>
    readonly outside: Outside
  },
  request: Pick<SubmitRequest, 'row' | 'intent' | 'fingerprint' | 'source'>,
  resolve: (tx: Transaction) => Promise<Caller>,
): Promise<JsonObject | undefined> {
  const { database, handlers, outside } = options
  const handler = handlers[request.row.type]
  if (!('execute' in handler) || !handler.examine) return undefined
  const { known, organizationId } = await database.read(async (tx) => {
    const caller = await resolve(tx)
    await checkSource(tx, caller, request.source)
    const { organizationId } = caller
    return { organizationId, known: await findActivityByFingerprint(tx, organizationId, request.fingerprint) }
  })
  return known ? undefined : handler.examine(request.intent, outside, organizationId)
}
