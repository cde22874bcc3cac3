/** A key that is registered no more, by whom it was: what it made and what it asked for may live. */
import { readActivities } from '../../activities/index.ts'
import type { QueryClient } from '../client/index.ts'
import { ACTIVITY_STATUSES, isWaiting } from '../protocol/index.ts'
import { credentialsOf, type GoneKey, type LocatedUser, quorumOf } from './locate.ts'
import { wayInForOthersTypes } from './made.ts'

/**
 * Finds whose a key was in the organization of the client: the user who voted with it for a way in, for a user, or for what still
 * waits. Empty where there is no such vote, so that nothing is left to be cut. Throws `ClientError`.
 */
export async function locateGone(client: QueryClient, publicKey: string): Promise<readonly GoneKey[]> {
  const voter = await voterWith(client, publicKey)
  if (!voter) return []
  const { users } = await client.query('list_users', {})
  const owner = users.find(({ userId }) => userId === voter.id)
  const { organizationName } = await client.query('whoami', {})
  const { configs } = await client.query('get_organization_configs', {})
  return [
    {
      organization: { id: client.organizationId, name: organizationName },
      user: owner ? { id: voter.id, name: owner.userName } : voter,
      gone: { publicKey },
      others: owner ? credentialsOf(owner) : [],
      quorum: quorumOf(configs, users),
    },
  ]
}

async function voterWith(client: QueryClient, publicKey: string): Promise<LocatedUser['user'] | undefined> {
  const made = { types: wayInForOthersTypes, statuses: ['ACTIVITY_STATUS_COMPLETED'] } as const
  const open = { types: [], statuses: ACTIVITY_STATUSES.filter(isWaiting) }
  for (const asked of [open, made]) {
    for await (const { votes } of readActivities(client, asked)) {
      const vote = votes.find((one) => one.publicKey.toLowerCase() === publicKey.toLowerCase())
      if (vote) return { id: vote.userId, name: vote.user.userName }
    }
  }
  return undefined
}
