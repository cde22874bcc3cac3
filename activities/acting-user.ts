import type { SubmitClient } from '../src/client/index.ts'
import type { Plan } from '../src/plan/index.ts'
import { ApplyError } from './error.ts'
import type { Failure } from './model.ts'

/** The user who began what a workflow carries out, and the key with which they did. */
export type ActingUser = Plan['actor']

/** How long the API's answer holds whose key a client has: a key is another user's only once it was deleted and registered anew. */
const KNOWN_MS = 60_000

/** The user of a client that had another key than what it carries out was begun with, and when the API said so. */
const known = new WeakMap<SubmitClient, { readonly userId: string; readonly at: number }>()

/**
 * Throws `apply/other-user` unless the worker's key is of the user that began what it carries out; another key of that user is taken. What
 * several workers of different users submit and approve would be approved by several, whom nobody has asked. For another key of the user the
 * API is asked once in a minute; where it is somebody else's, each time.
 * @param by undefined where it was begun by a release that did not keep it: any key is taken then
 * @param what what was begun, as a subject with its verb: `the plan was made for`
 * @param note keeps why nothing goes on here, for those who ask without Temporal. @default Temporal alone is told
 */
export async function assertActsAs(
  client: SubmitClient,
  by: ActingUser | undefined,
  { what, note }: { readonly what: string; readonly note?: (why: Failure) => Promise<void> },
): Promise<void> {
  if (by === undefined || client.publicKey.toLowerCase() === by.publicKey.toLowerCase()) return
  const last = known.get(client)
  if (last?.userId === by.userId && performance.now() - last.at < KNOWN_MS) return
  const at = performance.now()
  const { userId, username } = await client.query('whoami', {})
  if (userId === by.userId) {
    known.set(client, { userId, at })
    return
  }
  const error = new ApplyError('apply/other-user', `${what} ${by.userName}, and this worker has ${username}'s key`)
  const { code, message, next } = error
  await note?.({ code, message, ...(next === undefined ? {} : { next }) })
  throw error
}
