/** Cutting off a user of whose credentials none is trusted any more. */
import type { Wire } from '../protocol/index.ts'
import { type ContainDoor, type Cut, createCutter, DELETIONS, quorumWithout, WORDS } from './contain.ts'
import type { LocatedUser, OtherCredential } from './locate.ts'

/**
 * Cuts a user off, in this order: a policy that denies whatever the user approves, which is one activity whatever the user may log
 * in with; the user leaves the root quorum, which asks no policy; every credential is deleted but the one that the API keeps; what
 * the user asked for or approved and still waits is rejected. With `deleteUser` the user leaves the root quorum and is deleted
 * first; the policy is asked for where that did not come through. With `othersSince`, what the user made for others since then is deleted. What one step meets does not stop the next.
 */
export async function containUser(located: LocatedUser, door: ContainDoor): Promise<readonly Cut[]> {
  const { user, others } = located
  const { cuts, cut, deny, rejectOpen, cutOthers } = createCutter(door)
  const leaveQuorum = async () => {
    const parameters = quorumWithout(located)
    if (parameters)
      await cut(`take ${user.name} out of the root quorum`, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', parameters)
  }
  const denyUser = () =>
    deny(`deny whatever ${user.name} approves`, {
      policyName: `incident user ${user.id}`,
      consensus: consensusOf(user.id),
      notes: `User ${user.name} is compromised. Delete this policy when the user is deleted, or has new credentials alone.`,
    })
  if (door.deleteUser) {
    await leaveQuorum()
    if (!(await cut(`delete user ${user.name}`, 'ACTIVITY_TYPE_DELETE_USERS', { userIds: [user.id] }))) await denyUser()
  } else {
    await denyUser()
    await leaveQuorum()
    const kept = keptOf(others)
    for (const [kind, these] of Map.groupBy(
      others.filter((one) => one !== kept),
      (one) => one.kind,
    )) {
      const { type, ids } = DELETIONS[kind]
      const names = these.map(({ name }) => name).join(', ')
      const what = `delete ${these.length} of ${user.name}: ${WORDS[kind]} ${names}`
      await cut(what, type, { userId: user.id, [ids]: these.map(({ id }) => id) })
    }
  }
  const isHers = ({ votes }: Pick<Wire.Activity, 'votes'>) => votes.some(({ userId }) => userId === user.id)
  await rejectOpen(isHers)
  await cutOthers(isHers, user.id)
  return cuts
}

const consensusOf = (userId: string) => `approvers.any(user, user.id == '${userId}')`

/** The credential that stays, since the API keeps a user's last one: a passkey, which is harder to copy, or the oldest. */
function keptOf(all: readonly OtherCredential[]): OtherCredential | undefined {
  const oldest = all.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
  return oldest.find(({ kind }) => kind === 'authenticator') ?? oldest[0]
}

/** Why cutting the user off would leave too few people for the root quorum; undefined where it would not. */
export function lockOutUser({ user, quorum }: LocatedUser): string | undefined {
  if (!quorum.members.some(({ id }) => id === user.id)) return undefined
  const left = quorum.members.filter(({ id, credentials }) => id !== user.id && credentials > 0)
  if (left.length >= quorum.threshold) return undefined
  return `without ${user.name} the root quorum has ${left.length} of ${quorum.threshold} people`
}
