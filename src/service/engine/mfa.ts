import { applyingMfaPolicy, type Ballot, factorOf, openSteps, windowAfter, withBallot } from '../../authority/index.ts'
import type { CredentialFacts } from '../../policy/index.ts'
import { listMfaPolicies, toMfaPolicy } from '../resources/mfa-policies/store.ts'
import { type Rows, type VoteRow, whenRead } from '../store/index.ts'
import { listStanding } from './ballots.ts'
import type { Caller } from './caller.ts'
import type { Case, Judge, Judgement } from './judgement.ts'

/** What a vote leaves open of its user's own MFA policies (docs/protocol/mfa.md#votes). */
export interface StepsOfVote {
  /** The policy that applied. */
  readonly policyId: string | null
  /** Whether a step is open: the vote is kept, and does not count. */
  readonly isPending: boolean
}

const NONE: StepsOfVote = { policyId: null, isPending: false }

/**
 * Says which steps an approval by the caller leaves open, with the approvals that the caller has given before in the same window
 * by credentials that still stand.
 */
export function stepsOfVote(tools: { readonly judge: Judge }, item: Case, by: Approval): Rows<StepsOfVote> {
  const { userId, homeId } = by.caller
  return whenRead(listMfaPolicies(item.context.tx, homeId, [userId]), (rows) =>
    rows.length === 0 ? NONE : stepsUnder(rows.map(toMfaPolicy), tools, item, by),
  )
}

/** An approval by the caller, with what was there before it. */
interface Approval {
  readonly caller: Caller
  readonly votes: readonly VoteRow[]
  readonly ballots: readonly Ballot[]
  readonly windowOpenedAt: number
}

async function stepsUnder(
  policies: readonly ReturnType<typeof toMfaPolicy>[],
  { judge }: { readonly judge: Judge },
  item: Case,
  by: Approval,
): Promise<StepsOfVote> {
  const { tx, organizationId, now } = item.context
  const { userId, credential, signed } = by.caller
  const ballots = withBallot(by.ballots, { userId, credential })
  const policy = applyingMfaPolicy(policies, await judge.conditions(item, ballots))
  if (!policy) return NONE
  const since = windowAfter(by.windowOpenedAt, now)
  const before = by.votes.filter((vote) => vote.user_id === userId && isPending(vote) && vote.created_at >= since)
  const standing = await listStanding(
    tx,
    organizationId,
    before.map(({ credential_id: id }) => id),
  )
  const given = before.filter(({ credential_id: id }) => standing.has(id)).map(factorOfVote)
  const open = openSteps(policy, [...given, factorOf(credential, signed.scheme)])
  return { policyId: policy.id, isPending: open.length > 0 }
}

/** Whether a vote waits for further factors of its user. */
export function isPending({ mfa_pending: pending }: Pick<VoteRow, 'mfa_pending'>): boolean {
  return pending === 1
}

/** The factor that a vote was cast with. */
export function factorOfVote({ credential, scheme }: Pick<VoteRow, 'credential' | 'scheme'>) {
  return factorOf(JSON.parse(credential) as CredentialFacts, scheme)
}

/** What policies made of a vote that waits for factors: what they allow is not allowed yet. */
export function pendingDecision(decision: Judgement): Judgement {
  const policies = decision.policies.map((policy) =>
    policy.outcome === 'OUTCOME_ALLOW' ? { ...policy, outcome: 'OUTCOME_REQUIRES_AUTHENTICATORS' as const } : policy,
  )
  return { ...decision, policies }
}
