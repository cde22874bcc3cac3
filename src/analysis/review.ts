import { isDeepStrictEqual } from 'node:util'
import {
  actingVoter,
  approverOf,
  contextOf,
  standingCredentials,
  timedBy,
  votersOf,
  votesOn,
} from '../authority/index.ts'
import { type Change, type Forecast, type Plan, planOfActivity } from '../plan/index.ts'
import { type CompiledPolicy, mayVote, type PolicyContext, whoVotes } from '../policy/index.ts'
import { findActivity, type Wire } from '../protocol/index.ts'
import {
  type Actual,
  type Address,
  type KindName,
  kinds,
  organizationOf,
  type Resource,
  type Value,
} from '../resources/index.ts'
import { type Effect, effectOf } from './effect.ts'
import { forecast } from './forecast.ts'
import { type HeldPower, heldPowers } from './held-powers.ts'
import { createPolicyCompiler, policiesOf } from './policies.ts'
import { withEveryFlag } from './recorded.ts'
import { startState } from './state.ts'

/** What a voter has to know of an activity, worked out from its own intent and what lives. */
export interface Review {
  /** Each thing that it touches, before and after; none for an activity that changes nothing that definitions hold. */
  readonly changes: readonly Change[]
  /** Whether the changes say everything that its intent does; otherwise the intent has to be read itself. */
  readonly isWhole: boolean
  /** Ids in the intent under which nothing lives any more. */
  readonly missing: readonly string[]
  /** Who gains or loses which power once it is carried out; absent where the changes are not known. */
  readonly power?: Pick<Plan, 'access' | 'accessLimits' | 'actor'>
  /** Credentials that it gives to users who live, which no change of power between people tells; absent where there are none. */
  readonly credentials?: readonly CredentialAdded[]
  /** Absent where it does not wait, or hangs on what is not known here, such as a transaction, or whether a key was imported. */
  readonly standing?: Standing
}

/** A credential whose holder acts as this user. */
export interface CredentialAdded {
  readonly address: Address
  readonly kind: KindName
  /** Names. */
  readonly name: string
  readonly user: string
  /** What the user can do once they have it, alone or with others. */
  readonly powers: readonly HeldPower[]
}

/** The votes as the service counts them, and what they still lack. */
export interface Standing {
  /** Whose approvals are missing at this moment: the smallest sets. */
  readonly needed: Forecast
  /** Whether the reader's approval would count; `given` where it counts already. */
  readonly mine: 'counts' | 'given' | 'does not count'
}

/** Reviews an activity for whoever reads `actual`. */
export function reviewOf(
  activity: Wire.Activity,
  {
    actual,
    nowMs,
    baseUrl,
    mfa = [],
    facts,
  }: {
    readonly actual: Actual
    /** Trusted time, milliseconds since the epoch. */
    readonly nowMs: number
    readonly baseUrl: string
    /** What `get_mfa_status` tells of the activity. @default no vote waits for a factor */
    readonly mfa?: readonly Wire.MfaStatus[]
    /** What policies read of it besides its parameters, such as a transaction. @default not known */
    readonly facts?: Partial<PolicyContext> | undefined
  },
): Review {
  const effect = effectOf(activity, actual)
  const standing = standingOf(activity, { actual, nowMs, mfa, facts })
  const stands = standing ? { standing } : {}
  if (!effect) return { changes: [], isWhole: false, missing: [], ...stands }
  const [first] = activity.votes
  const actor = {
    userId: first?.userId ?? '',
    userName: first?.user?.userName || (first?.userId ?? ''),
    publicKey: first?.publicKey ?? '',
  }
  const now = new Date(nowMs).toISOString()
  const asked = { type: activity.type, parameters: intentOf(activity), actor, baseUrl, now }
  const plan = planOfActivity(asked, { pairs: effect.pairs, actual })
  const resources = effect.pairs.flatMap(({ desired }) => desired ?? [])
  const desired = { organization: '', organizationId: actual.organizationId, resources, manageAll: new Set<never>() }
  const { access, accessLimits } = forecast(plan, { desired: { ...desired, digest: '' }, actual, now })
  const limits = accessLimits?.filter((one) => one !== 'not-carried-out') ?? []
  return {
    changes: plan.changes,
    isWhole: effect.isWhole,
    missing: effect.missing,
    power: { actor, access: access ?? [], ...(limits.length > 0 ? { accessLimits: limits } : {}) },
    ...credentialsIn(effect, { actual, nowMs }),
    ...stands,
  }
}

function credentialsIn(
  { pairs }: Effect,
  { actual, nowMs }: { readonly actual: Actual; readonly nowMs: number },
): Pick<Review, 'credentials'> {
  const added = pairs.flatMap(({ actual: lives, desired }) =>
    lives === undefined && desired?.parentId !== undefined && kinds[desired.kind].credential ? [desired] : [],
  )
  if (added.length === 0) return {}
  const made = added.map((one) => ({ ...one, id: `new ${one.address}` }))
  const after = { ...actual, resources: [...actual.resources, ...made] }
  const ownerOf = ({ parentId }: Resource) => actual.resources.find(({ id }) => id === parentId)!.name
  const powers = new Map(
    [...new Set(added.map(ownerOf))].map((user) => [user, heldPowers(after, { user, nowMs })] as const),
  )
  return {
    credentials: added.map((one) => {
      const { address, kind, name } = one
      return { address, kind, name, user: ownerOf(one), powers: powers.get(ownerOf(one))! }
    }),
  }
}

function standingOf(
  activity: Wire.Activity,
  {
    actual,
    nowMs,
    mfa,
    facts,
  }: {
    readonly actual: Actual
    readonly nowMs: number
    readonly mfa: readonly Wire.MfaStatus[]
    readonly facts: Partial<PolicyContext> | undefined
  },
): Standing | undefined {
  if (activity.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') return undefined
  if (!facts) return undefined
  const state = startState(actual)
  const organization = organizationOf(state.things)
  const policies = policiesOf(state, createPolicyCompiler())
  const { approvals } = votesOn(activity, nowMs, mfa)
  const voters = approvals.flatMap((vote) => actingVoter(organization, vote) ?? [])
  const parameters = intentOf(activity) as Readonly<Record<string, Value>>
  const by = {
    approvers: voters.map(({ approver }) => approver),
    credentials: voters.map(({ credential }) => credential),
    rootQuorum: organization.rootQuorum,
  }
  const [standing, ...more] = withEveryFlag(facts, policies).map((one) =>
    standingIn(contextOf({ type: activity.type, parameters, nowMs, facts: one }, by)),
  )
  return more.every((one) => isDeepStrictEqual(one, standing)) ? standing : undefined

  function standingIn(context: PolicyContext): Standing {
    const needed = (some: readonly CompiledPolicy[]) => neededIn(context, some)
    const timed = timedBy(policies, context, needed)
    const now = needed(policies)
    return { needed: timed.length === 0 ? now : { ...now, timedBy: timed }, mine: mineIn(context) }
  }

  function neededIn(context: PolicyContext, some: readonly CompiledPolicy[]): Forecast {
    const others = whoVotes(some, context, votersOf(organization, nowMs))
    if (others === 'too-many') return { outcome: 'depends', reason: 'there are too many ways to approve it to try all' }
    if (others === 'nobody')
      return { outcome: 'denied', reason: 'no set of users who have a credential could approve it as it stands' }
    return { outcome: 'waits', needed: others.sets, ...(others.any ? { any: others.any } : {}) }
  }

  function mineIn(context: PolicyContext): Standing['mine'] {
    const { userId } = actual.actor
    if (approvals.some((vote) => vote.userId === userId)) return 'given'
    const me = organization.users.find(({ id }) => id === userId)
    const counts = me && standingCredentials(me, nowMs).some((one) => mayVote(policies, context, approverOf(me), one))
    return counts ? 'counts' : 'does not count'
  }
}

function intentOf({ type, intent }: Wire.Activity): Value {
  const row = findActivity(type)?.row
  return ((row && (intent as Readonly<Record<string, Value>>)[row.intentKey]) ?? {}) as Value
}
