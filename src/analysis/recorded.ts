/**
 * Activities on record decided again, by the policies and people of another state: those that live now, or those of definitions that
 * are not applied yet. The votes are played in the order in which they were cast, each at its own time (U-time-pending); one that the state
 * would refuse is left out.
 */
import { approverOf, contextOf, type Organization, votersOf, votesOn } from '../authority/index.ts'
import type { Plan } from '../plan/index.ts'
import {
  authorize,
  type CompiledPolicy,
  type CredentialFacts,
  conditionHolds,
  mayVote,
  type Needs,
  type PolicyContext,
  type Reads,
  readsOf,
  whoVotes,
} from '../policy/index.ts'
import { findActivity, fromTimestamp, isWaiting, type Wire } from '../protocol/index.ts'
import { type Actual, type Desired, organizationOf, type Resource } from '../resources/index.ts'
import { breathe } from './computing.ts'
import { createPolicyCompiler, policiesOf } from './policies.ts'
import { createCarrier, standIns, startState } from './state.ts'

export type RecordedOutcome = 'executed' | 'waits' | 'denied' | 'unknown'

/** What a state makes of an activity on record. */
export interface RecordedDecision {
  readonly outcome: RecordedOutcome
  /** Why it is denied or unknown. */
  readonly reason?: string
  /** Names of the policies that allowed or denied it, sorted. */
  readonly policies: readonly string[]
  /** Of one that waits: who else could approve it. */
  readonly needed?: Needs
}

/** Things as they live, or as they would live. */
export type Things = readonly Resource[]

/** What a state decides, and which of its policies that hangs on. */
export interface RecordedJudge {
  readonly things: Things
  /** `facts` is what policies read of the activity besides its parameters; undefined where that is not known. */
  readonly decide: (activity: Wire.Activity, facts: Partial<PolicyContext> | undefined) => RecordedDecision
  /** Names of policies without which, one at a time, the activity would be decided otherwise. */
  readonly decisive: (activity: Wire.Activity, facts: Partial<PolicyContext> | undefined) => readonly string[]
}

/** What became of an activity on record. */
export function recordedOutcome({ status, failure }: Pick<Wire.Activity, 'status' | 'failure'>): RecordedOutcome {
  if (status === 'ACTIVITY_STATUS_COMPLETED') return 'executed'
  // One that was allowed and could not be carried out was decided all the same (docs/protocol/errors.md).
  if (status === 'ACTIVITY_STATUS_FAILED') return failure?.code === PERMISSION_DENIED ? 'denied' : 'executed'
  return status === 'ACTIVITY_STATUS_REJECTED' || isWaiting(status) ? 'waits' : 'unknown'
}

const PERMISSION_DENIED = 7

/** Things as they are once a plan was carried out, whatever is forecast of it. */
export function thingsAfter(
  plan: Plan,
  { desired, actual }: { readonly desired: Desired; readonly actual: Actual },
): Things {
  const carryOut = createCarrier({ plan, desired, ids: standIns(plan, desired) })
  return plan.batches.reduce(carryOut, startState(actual)).things
}

/** Decides by the policies and people among these things; `nowMs` says whose approvals of a waiting activity have lapsed. */
export function createRecordedJudge(things: Things, { nowMs }: { readonly nowMs: number }): RecordedJudge {
  const organization = organizationOf(things)
  const policies = policiesOf({ things }, createPolicyCompiler())
  const decide: RecordedJudge['decide'] = (activity, facts) =>
    decideBy(policies, organization, { activity, facts, nowMs })
  return {
    things,
    decide,
    decisive: (activity, facts) => {
      const { outcome, policies: named } = decide(activity, facts)
      if (outcome !== 'executed' && outcome !== 'denied') return []
      // Where one vote was enough and several policies said the same, each of them is enough.
      if (activity.votes.length === 1 && named.length > 1) return []
      const letIn =
        activity.votes.length === 1
          ? []
          : applyingTo(policies, { activity, facts: facts!, rootQuorum: organization.rootQuorum })
      return [...new Set([...named, ...letIn])].filter((name) => {
        const others = policies.filter(({ policy }) => policy.name !== name)
        return decideBy(others, organization, { activity, facts, nowMs }).outcome !== outcome
      })
    },
  }
}

/** Names of the ALLOW policies by which others may vote on an activity that they need not allow. */
function applyingTo(
  policies: readonly CompiledPolicy[],
  {
    activity: { type, intent, createdAt },
    facts,
    rootQuorum,
  }: Pick<Organization, 'rootQuorum'> & { readonly activity: Wire.Activity; readonly facts: Partial<PolicyContext> },
): readonly string[] {
  const parameters = (intent as Readonly<Record<string, object>>)[findActivity(type)!.row.intentKey]!
  const contexts = withEveryFlag(facts, policies).map((one) =>
    contextOf(
      { type, parameters, nowMs: fromTimestamp(createdAt), facts: one },
      { approvers: [], credentials: [], rootQuorum },
    ),
  )
  return policies
    .filter(({ policy }) => policy.effect === 'EFFECT_ALLOW')
    .filter((one) => contexts.some((context) => conditionHolds(one, context)))
    .map(({ policy }) => policy.name)
}

interface Recorded {
  readonly activity: Wire.Activity
  readonly facts: Partial<PolicyContext> | undefined
  readonly nowMs: number
}

function decideBy(
  policies: readonly CompiledPolicy[],
  organization: Organization,
  { activity, facts, nowMs }: Recorded,
): RecordedDecision {
  breathe()
  if (!facts) return unknown('what policies read of it is not on record')
  const decisions = withEveryFlag(facts, policies).map((one) =>
    decideOnce(policies, organization, { activity, facts: one, nowMs }),
  )
  const [first] = decisions
  const isSure = decisions.every(({ outcome }) => outcome === first!.outcome)
  return isSure ? first! : unknown('whether the key had been imported or exported is not on record')
}

function decideOnce(
  policies: readonly CompiledPolicy[],
  { users, rootQuorum }: Organization,
  { activity, facts, nowMs: now }: Recorded,
): RecordedDecision {
  const { approvals } = votesOn(activity, now)
  if (approvals.length === 0) return unknown('no vote on it counts')
  const submittedMs = Math.min(...activity.votes.map(({ createdAt }) => fromTimestamp(createdAt)))
  const parameters = (activity.intent as Readonly<Record<string, object>>)[findActivity(activity.type)!.row.intentKey]!
  let context = contextOf(
    { type: activity.type, parameters, nowMs: submittedMs, facts },
    { approvers: [], credentials: [], rootQuorum },
  )
  for (const [index, { userId, publicKey, user, createdAt }] of approvals.entries()) {
    const castMs = fromTimestamp(createdAt)
    context = { ...context, now: BigInt(castMs) * 1_000_000n }
    const found = users.find(({ id }) => id === userId)
    if (!found) return unknown(`${user?.userName || userId} is no user any more`)
    const used = found.credentials.find(({ facts: one }) => isSameKey(one, publicKey))?.facts
    if (!used && readsCredentials(policies)) return unknown(`the credential of ${found.name} is gone`)
    const approver = approverOf(found)
    // Where the submission has lapsed, the first approval that counts is a vote.
    const isFirst = index === 0 && castMs === submittedMs
    if (!isFirst && !mayVote(policies, context, approver, used)) continue
    const joined = {
      ...context,
      approvers: [...context.approvers, approver],
      credentials: used ? [...(context.credentials ?? []), used] : (context.credentials ?? []),
    }
    const { outcome, basis, policies: outcomes } = authorize(policies, joined)
    const named = (wanted: string) =>
      outcomes
        .filter((one) => one.outcome === wanted)
        .map(({ policyId }) => policies.find(({ policy }) => policy.id === policyId)!.policy.name)
        .sort()
    if (outcome === 'OUTCOME_ALLOW') return { outcome: 'executed', policies: named('OUTCOME_ALLOW') }
    const isDenied = outcome !== 'OUTCOME_REQUIRES_CONSENSUS'
    if (isDenied && isFirst) {
      const denying = named('OUTCOME_DENY_EXPLICIT')
      return { outcome: 'denied', reason: whyDenied(basis, denying), policies: denying }
    }
    // A denied vote is no vote: it leaves the activity waiting as it was.
    if (!isDenied) context = joined
  }
  const lastMs = fromTimestamp(approvals.at(-1)!.createdAt)
  return { outcome: 'waits', policies: [], needed: whoVotes(policies, context, votersOf({ users }, lastMs)) }
}

function whyDenied(basis: string, denying: readonly string[]): string {
  if (basis === 'root-only') return 'only the root quorum may do it'
  return denying.length === 0
    ? 'no policy allows it'
    : `${denying.join(', ')} ${denying.length === 1 ? 'denies' : 'deny'} it`
}

function unknown(reason: string): RecordedDecision {
  return { outcome: 'unknown', reason, policies: [] }
}

function isSameKey({ public_key: one }: CredentialFacts, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase()
}

function readsCredentials(policies: readonly CompiledPolicy[]): boolean {
  return readsFrom(policies).roots.has('credentials')
}

/** The facts with every value that flags of the wallet or key may have had, where a policy reads these. */
export function withEveryFlag(
  facts: Partial<PolicyContext>,
  policies: readonly CompiledPolicy[],
): readonly Partial<PolicyContext>[] {
  const holder = HOLDERS.find((one) => facts[one])
  const isRead = FLAGS.some((flag) => readsFrom(policies).chains.has(`${holder}.${flag}`))
  if (!holder || !isRead) return [facts]
  return FLAG_VALUES.map((flags) => ({ ...facts, [holder]: { ...flags, ...facts[holder] } }))
}

const HOLDERS = ['wallet', 'private_key'] as const
const FLAGS = ['imported', 'exported'] as const
const FLAG_VALUES = [false, true].flatMap((imported) => [false, true].map((exported) => ({ imported, exported })))

const known = new WeakMap<readonly CompiledPolicy[], Reads>()

function readsFrom(policies: readonly CompiledPolicy[]): Reads {
  const found =
    known.get(policies) ??
    readsOf(...policies.flatMap(({ consensus, condition }) => [consensus?.tree, condition?.tree]))
  known.set(policies, found)
  return found
}
