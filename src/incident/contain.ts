import { findByIntent, readActivities } from '../../activities/index.ts'
import { ClientError, type QueryClient, type SubmitClient } from '../client/index.ts'
import { messageOf } from '../diagnostics/index.ts'
import { castVote } from '../operations/index.ts'
import { makeBody } from '../plan/index.ts'
import { parse, readsOf } from '../policy/index.ts'
import { type ActivityType, activities, isWaiting, type Json, WAITING_STATUSES, type Wire } from '../protocol/index.ts'
import type { GoneKey, LocatedKey, LocatedUser, OtherCredential } from './locate.ts'
import { credentialsMadeBy, isAmong, wayInForOthersTypes, wayInTypes } from './made.ts'
import { madeForOthers } from './made-for-others.ts'

/** One protective step, and what came of it. */
export interface Cut {
  readonly what: string
  /** `waits`: others must approve · `refused`: the API or a policy said no · `unknown`: no answer came; run it again. */
  readonly outcome: 'done' | 'waits' | 'refused' | 'unknown'
  readonly activityId?: string
  readonly fingerprint?: string
  /** Why it was refused, or is not known. */
  readonly why?: string
}

export interface ContainDoor {
  readonly client: SubmitClient
  /** Milliseconds since the epoch, as the API has it. */
  readonly now: () => number
  readonly tell: (cut: Cut) => void
  /** Deletes a user who has no other way in. @default false */
  readonly deleteUser?: boolean
  /**
   * Deletes the credentials that the suspect has made for other users since then, in milliseconds since the epoch.
   * @default those of others stay
   */
  readonly othersSince?: number | undefined
}

/**
 * Cuts a key off, in this order: the key is deleted, unless it is gone; the credentials that it made are deleted; what it, or a key
 * that it made, asked for or approved and still waits is rejected; with `othersSince`, what they made for other users since then is
 * deleted; where a deletion did not come through at once, because others must approve it or because the API keeps a user's last
 * credential, a policy that denies whatever is approved with it is asked for, and the user leaves a root quorum of one. With
 * `deleteUser` a user who has no way in but these leaves the quorum and is deleted instead. What one step meets does not stop the
 * next. Equal requests that are open are not made again.
 */
export async function contain(exposure: LocatedKey | GoneKey, door: ContainDoor): Promise<readonly Cut[]> {
  const { user, key, others, quorum } = exposure
  const publicKey = publicKeyOf(exposure)
  const { cuts, note, cut, deny, rejectOpen, cutOthers } = createCutter(door)
  const findMade = () =>
    madeBy(exposure, door.client).catch((error: unknown) => {
      note({ what: 'find the credentials that the key made', outcome: 'unknown', why: messageOf(error) })
      return { credentials: [], publicKeys: [publicKey] }
    })

  const alive: string[] = []
  const before = door.deleteUser ? await findMade() : undefined
  const isUserTheirs = before?.credentials.length === others.length && (key !== undefined || others.length > 0)
  if (isUserTheirs) {
    await leaveQuorum()
    const parameters = { userIds: [user.id] }
    if (!(await cut(`delete user ${user.name}`, 'ACTIVITY_TYPE_DELETE_USERS', parameters)))
      for (const one of [key, ...others]) if (one?.publicKey) alive.push(one.publicKey)
  } else if (key && !(await deleteOne({ kind: 'apiKey', ...key }))) alive.push(publicKey)
  const { credentials, publicKeys } = before ?? (await findMade())
  if (!isUserTheirs)
    for (const one of credentials) if (!(await deleteOne(one)) && one.publicKey) alive.push(one.publicKey)
  const isSuspects = (activity: Wire.Activity) => publicKeys.some((each) => isVotedBy(activity, each))
  await rejectOpen(isSuspects)
  await cutOthers(isSuspects, user.id)
  if (alive.length > 0) {
    // No policy is asked where one member is the quorum.
    if (quorum.threshold === 1 && !isUserTheirs) await leaveQuorum()
    const those =
      alive.length === 1 ? 'the key that was not deleted approves' : 'the keys that were not deleted approve'
    await deny(`deny whatever ${those}`, {
      policyName: `incident ${publicKey.slice(0, 16)} ${alive.length}`,
      consensus: denialOf(alive),
      isDenied: (consensus) => isDenialOf(consensus, alive),
      notes: `The API key ${key?.name ?? publicKey} is compromised. Delete this policy when what it names is deleted.`,
    })
  }
  return cuts

  async function leaveQuorum(): Promise<void> {
    const parameters = quorumWithout({ user, quorum })
    if (!parameters) return
    await cut(`take ${user.name} out of the root quorum`, 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', parameters)
  }

  function deleteOne(one: Pick<OtherCredential, 'kind' | 'id' | 'name'>): Promise<boolean> {
    const { type, ids } = DELETIONS[one.kind]
    const which = one.id === key?.id ? '' : ', which the key made'
    const what = `delete ${WORDS[one.kind]} ${one.name} of ${user.name}${which}`
    return cut(what, type, { userId: user.id, [ids]: [one.id] })
  }
}

/** What carries the steps out, one after another, and notes what came of each. */
export function createCutter(door: ContainDoor) {
  const cuts: Cut[] = []
  const note = (cut: Cut) => {
    cuts.push(cut)
    door.tell(cut)
    return cut.outcome === 'done'
  }
  const cut = async (what: string, type: ActivityType, parameters: Json) =>
    note(await outcomeOf(what, () => submitOnce(type, parameters, door)))
  return {
    cuts,
    note,
    cut,
    /** Asks for a policy that denies, unless one of an earlier run denies just this. */
    async deny(
      what: string,
      {
        policyName: wanted,
        isDenied,
        ...policy
      }: {
        readonly policyName: string
        readonly consensus: string
        readonly notes: string
        /** Whether a policy with that consensus, which denies at all times, denies as much. @default the same text */
        readonly isDenied?: (consensus: string) => boolean
      },
    ) {
      const { policies } = await door.client.query('list_policies', {}).catch(() => ({ policies: [] }))
      const isEnough = isDenied ?? ((consensus) => consensus === policy.consensus)
      if (policies.some((one) => deniesAlways(one) && isEnough(one.consensus))) return note({ what, outcome: 'done' })
      const policyName = freeName(wanted, policies)
      const denial = { ...policy, policyName, effect: 'EFFECT_DENY', condition: 'true' }
      return cut(what, 'ACTIVITY_TYPE_CREATE_POLICY_V3', denial)
    },
    /** Deletes what the suspect has made for other users, where it is known since when. */
    async cutOthers(isSuspects: (activity: Wire.Activity) => boolean, userId: string): Promise<void> {
      const { client, othersSince: since } = door
      if (since === undefined) return
      const made = await madeForOthers(client, { types: wayInForOthersTypes, isSuspects, userId, since }).catch(
        (error: unknown) => {
          note({ what: 'find the credentials that were made for others', outcome: 'unknown', why: messageOf(error) })
          return []
        },
      )
      for (const { user, credential } of made) {
        // Whoever works with the key in use goes on.
        if (credential.publicKey === client.publicKey.toLowerCase()) continue
        const { type, ids } = DELETIONS[credential.kind]
        const what = `delete ${WORDS[credential.kind]} ${credential.name} of ${user.name}, made for them`
        await cut(what, type, { userId: user.id, [ids]: [credential.id] })
      }
    },
    /** Rejects what waits for approval. */
    async rejectOpen(isOne: (activity: Wire.Activity) => boolean): Promise<void> {
      const mine = new Set(cuts.map(({ activityId }) => activityId))
      try {
        for await (const activity of readActivities(door.client, { types: [], statuses: WAITING_STATUSES })) {
          if (!isOne(activity) || mine.has(activity.id)) continue
          const what = `reject ${activity.type.replace('ACTIVITY_TYPE_', '')} ${activity.id}`
          const reject = () => castVote(door.client, activity.fingerprint, { vote: 'reject', now: door.now() })
          note(await outcomeOf(what, reject, 'ACTIVITY_STATUS_REJECTED'))
        }
      } catch (error) {
        note({ what: 'reject what waits', outcome: 'unknown', why: messageOf(error) })
      }
    },
  }
}

/** The root quorum without a user; undefined where the user is no member, or too few would be left. */
export function quorumWithout({ user, quorum }: Pick<LocatedUser, 'user' | 'quorum'>) {
  const userIds = quorum.members.filter(({ id }) => id !== user.id).map(({ id }) => id)
  if (userIds.length === quorum.members.length || userIds.length < quorum.threshold) return undefined
  return { threshold: quorum.threshold, userIds }
}

/**
 * Why deleting a key and what it made would leave too few people for the root quorum; undefined where it would not. Whoever else is
 * a member has to have a way in.
 */
export function lockOut(
  { user, others, quorum }: LocatedUser,
  made: readonly OtherCredential[] = [],
): string | undefined {
  const isMember = quorum.members.some(({ id }) => id === user.id)
  if (!isMember || others.length > made.length) return undefined
  const left = quorum.members.filter(({ id, credentials }) => id !== user.id && credentials > 0)
  if (left.length >= quorum.threshold) return undefined
  return `it is the only way in of ${user.name}, without whom the root quorum has ${left.length} of ${quorum.threshold} people`
}

export const DELETIONS = {
  apiKey: { type: 'ACTIVITY_TYPE_DELETE_API_KEYS', ids: 'apiKeyIds' },
  authenticator: { type: 'ACTIVITY_TYPE_DELETE_AUTHENTICATORS', ids: 'authenticatorIds' },
  oauthProvider: { type: 'ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS', ids: 'providerIds' },
} as const satisfies Readonly<Record<OtherCredential['kind'], { type: ActivityType; ids: string }>>

export const WORDS: Readonly<Record<OtherCredential['kind'], string>> = {
  apiKey: 'API key',
  authenticator: 'passkey',
  oauthProvider: 'login',
}

/** What a key made, directly or by way of keys that it made. */
export interface MadeByKey {
  /** The user's other credentials that live. */
  readonly credentials: readonly OtherCredential[]
  /** The key's own and those of the keys that it made, in lower case, whether they live or not. */
  readonly publicKeys: readonly string[]
}

/** Finds what came of activities which a key, or one that it made, voted for. Without another credential nothing is asked. */
export async function madeBy(of: LocatedKey | GoneKey, client: QueryClient): Promise<MadeByKey> {
  const { user, others } = of
  const keys = new Set([publicKeyOf(of)])
  if (others.length === 0) return { credentials: [], publicKeys: [...keys] }
  const seen: Wire.Activity[] = []
  for await (const one of readActivities(client, { types: wayInTypes, statuses: ['ACTIVITY_STATUS_COMPLETED'] }))
    seen.push(one)
  const made = new Set<OtherCredential>()
  // A key that the key made may have made another one, and live no more.
  for (let size = -1; size !== keys.size; ) {
    size = keys.size
    for (const activity of seen.filter((one) => [...keys].some((each) => isVotedBy(one, each)))) {
      const these = credentialsMadeBy(activity)
      for (const publicKey of these.publicKeys) keys.add(publicKey)
      for (const one of others.filter((each) => isAmong(these, each, user.id))) {
        made.add(one)
        if (one.publicKey) keys.add(one.publicKey)
      }
    }
  }
  return { credentials: others.filter((one) => made.has(one)), publicKeys: [...keys] }
}

/** The key that leaked, in lower case. */
function publicKeyOf({ key, gone }: LocatedKey | GoneKey): string {
  return (key ?? gone)!.publicKey.toLowerCase()
}

/** The consensus of a policy that takes these keys for denied. */
function denialOf(publicKeys: readonly string[]): string {
  const list = publicKeys.map((one) => `'${one}'`).join(', ')
  return `credentials.any(credential, credential.public_key in [${list}])`
}

/** Whether a consensus is one that `denialOf` writes, of these keys and perhaps more: an earlier run may have found more alive. */
function isDenialOf(consensus: string, publicKeys: readonly string[]): boolean {
  const named = [...readsOf(parse(consensus).tree).literals]
  return consensus === denialOf(named) && publicKeys.every((one) => named.includes(one))
}

/** Whether a policy denies at all times: the suspect may have made one that does not. */
function deniesAlways({ effect, condition, time }: Wire.Policy): boolean {
  return effect === 'EFFECT_DENY' && condition === 'true' && !time
}

/** A name that no policy has: the suspect can foresee the first, and take it. */
function freeName(name: string, policies: readonly Wire.Policy[]): string {
  const taken = new Set(policies.map(({ policyName }) => policyName))
  for (let nth = 1; ; nth++) {
    const wanted = nth === 1 ? name : `${name} ${nth}`
    if (!taken.has(wanted)) return wanted
  }
}

export function isVotedBy({ votes }: Pick<Wire.Activity, 'votes'>, publicKey: string): boolean {
  return votes.some((vote) => vote.publicKey.toLowerCase() === publicKey.toLowerCase())
}

/** Submits a request, unless an equal one is open already. What was rejected before is asked again: this is an incident. */
async function submitOnce(type: ActivityType, parameters: Json, { client, now }: ContainDoor): Promise<Wire.Activity> {
  const open = await findByIntent(client, type, parameters)
  if (open && open.status !== 'ACTIVITY_STATUS_REJECTED') return open
  const { organizationId } = client
  const body = makeBody({ type, organizationId, parameters, timestampMs: String(now()) })
  return client.submit(activities[type].path, body)
}

async function outcomeOf(
  what: string,
  submit: () => Promise<Wire.Activity>,
  wanted: Wire.Activity['status'] = 'ACTIVITY_STATUS_COMPLETED',
): Promise<Cut> {
  try {
    const { id, fingerprint, status, failure } = await submit()
    const of = { what, activityId: id, fingerprint }
    if (status === wanted) return { ...of, outcome: 'done' }
    if (isWaiting(status)) return { ...of, outcome: 'waits' }
    return { ...of, outcome: 'refused', why: failure?.message || status.replace('ACTIVITY_STATUS_', '') }
  } catch (error) {
    const isRefused = error instanceof ClientError && error.submitted !== 'unknown' && !error.retryable
    return { what, outcome: isRefused ? 'refused' : 'unknown', why: messageOf(error) }
  }
}
