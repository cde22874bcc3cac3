import type { SubmitClient } from '../src/client/index.ts'
import type { Plan } from '../src/plan/index.ts'
import { ApplyError } from './error.ts'
import type { Failure } from './model.ts'

/** The user who began what a workflow carries out, and the key with which they did. */
export type ActingUser = Plan['actor']

/**
 * Throws `apply/other-user` unless the worker's key is of the user that began what it carries out; another key of that user is taken. What
 * several workers of different users submit and approve would be approved by several, whom nobody has asked.
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
  const { userId, username } = await client.query('whoami', {})
  if (userId === by.userId) return
  const error = new ApplyError('apply/other-user', `${what} ${by.userName}, and this worker has ${username}'s key`)
  const { code, message, next } = error
  await note?.({ code, message, ...(next === undefined ? {} : { next }) })
  throw error
}
