/** Ways in that a suspect has given to other users: persistence that cutting off the suspect's own credentials leaves. */
import { readActivities } from '../../activities/index.ts'
import type { QueryClient } from '../client/index.ts'
import { type ActivityType, fromTimestamp, type Wire } from '../protocol/index.ts'
import { credentialsOf, type OtherCredential } from './locate.ts'
import { credentialsMadeBy, isAmong, type MadeCredentials } from './made.ts'

/** A credential of another user. */
export interface MadeForOther {
  readonly user: { readonly id: string; readonly name: string }
  readonly credential: OtherCredential
}

/**
 * Finds credentials of other users that were made since then by an activity in which the suspect voted, users that were made with
 * them among them. They are told by their ids and public keys, as activities have them.
 */
export async function madeForOthers(
  client: QueryClient,
  {
    types,
    isSuspects,
    userId,
    since,
  }: {
    readonly types: readonly ActivityType[]
    /** Whether the suspect voted in it. */
    readonly isSuspects: (activity: Wire.Activity) => boolean
    readonly userId: string
    /** Milliseconds since the epoch. */
    readonly since: number
  },
): Promise<readonly MadeForOther[]> {
  const made: MadeCredentials[] = []
  for await (const one of readActivities(client, { types, statuses: ['ACTIVITY_STATUS_COMPLETED'] })) {
    // Newest first. What was asked for before then may have been carried out since, so it is looked at by its end.
    if (fromTimestamp(one.updatedAt) >= since && isSuspects(one)) made.push(credentialsMadeBy(one))
  }
  if (made.length === 0) return []
  const { users } = await client.query('list_users', {})
  return users
    .filter((user) => user.userId !== userId)
    .flatMap((user) =>
      credentialsOf(user)
        .filter(
          (credential) =>
            Date.parse(credential.createdAt) >= since && made.some((one) => isAmong(one, credential, user.userId)),
        )
        .map((credential) => ({ user: { id: user.userId, name: user.userName }, credential })),
    )
}
