/** A difference between two sets of policies as it can be played: a request, and the votes that get it executed under one of them alone. */
import {
  type Approver,
  authorize,
  type CompiledPolicy,
  type CredentialFacts,
  mayVote,
  type Outcome,
  type PolicyContext,
  type Voter,
  whoCan,
} from '../policy/index.ts'

/** Policies with those who may decide. */
export interface DecidingState {
  readonly policies: readonly CompiledPolicy[]
  readonly voters: readonly Voter[]
  readonly rootQuorum: NonNullable<PolicyContext['rootQuorum']>
}

export interface PlayedVote {
  /** By name. */
  readonly user: string
  readonly approver: Approver
  readonly credential: CredentialFacts | undefined
}

export interface Play {
  /** Without approvers. */
  readonly context: PolicyContext
  /** In their order, the submitter first. */
  readonly votes: readonly PlayedVote[]
  /** After so many of the votes the two sets first say something else. */
  readonly count: number
  /** What each then says; of the other set nothing where one of these people is not in it. */
  readonly outcome: Outcome
  readonly otherwise: Outcome | undefined
}

/** Plays a request under both sets; undefined where it does not come to what was claimed: executed under one, and by no votes of these under the other. */
export function playOf({
  context,
  people,
  by,
  not,
}: {
  readonly context: PolicyContext
  readonly people: readonly string[]
  readonly by: DecidingState
  readonly not: DecidingState
}): Play | undefined {
  const among = (stage: DecidingState) => stage.voters.filter(({ name }) => people.includes(name))
  const votes = votesFor({ ...context, rootQuorum: by.rootQuorum, approvers: [], credentials: [] }, by, among(by), [])
  if (votes === undefined) return undefined
  const others = whoCan(not.policies, { ...context, rootQuorum: not.rootQuorum }, among(not))
  if (others === 'gave-up' || others.found.length > 0) return undefined
  const counts = votes.map((_, index) => index + 1)
  const told = counts.map((count) => {
    const some = votes.slice(0, count)
    return { count, outcome: outcomeOf(context, some, by)!, otherwise: outcomeOf(context, some, not) }
  })
  const first = told.find(({ outcome, otherwise }) => outcome !== otherwise)
  return first && { context, votes, ...first }
}

/** The votes, in an order in which each counts and none is denied. */
function votesFor(
  context: PolicyContext,
  stage: DecidingState,
  left: readonly Voter[],
  given: readonly PlayedVote[],
): readonly PlayedVote[] | undefined {
  for (const voter of left)
    for (const approver of voter.views ?? [voter.approver])
      for (const credential of voter.credentials?.length ? voter.credentials : [undefined]) {
        if (given.length > 0 && !mayVote(stage.policies, context, approver, credential)) continue
        const joined = withVote(context, approver, credential)
        const votes = [...given, { user: voter.name, approver, credential }]
        const { outcome } = authorize(stage.policies, joined)
        if (outcome === 'OUTCOME_ALLOW') return votes
        const others = left.filter((one) => one !== voter)
        const found = outcome === 'OUTCOME_REQUIRES_CONSENSUS' ? votesFor(joined, stage, others, votes) : undefined
        if (found) return found
      }
  return undefined
}

/** What comes of these votes all together, by people of the same names with credentials of the same types. */
function outcomeOf(request: PolicyContext, votes: readonly PlayedVote[], stage: DecidingState): Outcome | undefined {
  let context: PolicyContext = { ...request, rootQuorum: stage.rootQuorum, approvers: [], credentials: [] }
  for (const { user, credential } of votes) {
    const voter = stage.voters.find(({ name }) => name === user)
    if (voter === undefined) return undefined
    const own = voter.credentials ?? []
    context = withVote(context, voter.approver, own.find(({ type }) => type === credential?.type) ?? own[0])
  }
  return authorize(stage.policies, context).outcome
}

function withVote(context: PolicyContext, approver: Approver, credential: CredentialFacts | undefined): PolicyContext {
  const { approvers, credentials = [] } = context
  return {
    ...context,
    approvers: [...approvers, approver],
    credentials: credential === undefined ? credentials : [...credentials, credential],
  }
}
