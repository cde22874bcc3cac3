/** A key that is registered no more, by whom it was: what it made and what it asked for may live. */
import { readActivities } from '../../activities/index.ts'
import type { QueryClient } from '../client/index.ts'
import { inside } from '../live/index.ts'
import { WAITING_STATUSES } from '../protocol/index.ts'
import {
  credentialsOf,
  type GoneKey,
  type KeyInside,
  type LocatedUser,
  organizationNameOf,
  quorumOf,
} from './locate.ts'
import { wayInForOthersTypes } from './made.ts'

/**
 * Finds whose a key was in the organization of the client, or in one inside it: the user who voted with it for a way in, for a user,
 * or for what still waits. Empty where there is no such vote, so that nothing is left to be cut: two requests where little was done.
 * Throws `ClientError`.
 */
export async function locateGone(
  client: QueryClient,
  { organizationId: id, publicKey }: KeyInside,
): Promise<readonly GoneKey[]> {
  const there = id === client.organizationId ? client : inside(client, id)
  const voter = await voterWith(there, publicKey)
  if (!voter) return []
  const { users } = await there.query('list_users', {})
  const owner = users.find(({ userId }) => userId === voter.id)
  const { configs } = await there.query('get_organization_configs', {})
  return [
    {
      organization: { id, name: await organizationNameOf(client, id) },
      user: owner ? { id: voter.id, name: owner.userName } : voter,
      gone: { publicKey },
      others: owner ? credentialsOf(owner) : [],
      quorum: quorumOf(configs, users),
    },
  ]
}

async function voterWith(client: QueryClient, publicKey: string): Promise<LocatedUser['user'] | undefined> {
  const made = { types: wayInForOthersTypes, statuses: ['ACTIVITY_STATUS_COMPLETED'] } as const
  const open = { types: [], statuses: WAITING_STATUSES }
  for (const asked of [open, made]) {
    for await (const { votes } of readActivities(client, asked)) {
      const vote = votes.find((one) => one.publicKey.toLowerCase() === publicKey.toLowerCase())
      if (vote) return { id: vote.userId, name: vote.user.userName }
    }
  }
  return undefined
}
