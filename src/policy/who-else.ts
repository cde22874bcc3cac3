/** Who could get a request allowed: those who would have to approve one that waits, or everybody who could have asked. */
import { authorize, type CompiledPolicy, mayVote } from './authorize.ts'
import { type Coalitions, type Elector, findCoalitions, type SetsOfPeople, writeOut } from './coalitions.ts'
import { type Budget, createBudget, isUsedUp } from './frame.ts'
import type { Approver, CredentialFacts, PolicyContext } from './model.ts'
import { type Reads, readsOf, type Use } from './reads.ts'
import { takingPart } from './taking-part.ts'

/** A person who could approve, with each of their credentials. */
export interface Voter {
  readonly name: string
  readonly approver: Approver
  readonly credentials?: readonly CredentialFacts[] | undefined
  /** As whom policies may see them, where they can choose: one of these with each vote. @default `approver` alone */
  readonly views?: readonly Approver[]
}

/** `nobody`: no set of these people suffices · `too-many`: there are too many to try them all. */
export type Needs = SetsOfPeople | 'nobody' | 'too-many'

interface Ballot {
  readonly approver: Approver
  readonly credential: CredentialFacts | undefined
}

/** Finds who else would have to approve: the smallest sets of people. Undefined when the request does not wait. */
export function whoElse(
  policies: readonly CompiledPolicy[],
  context: PolicyContext,
  people: readonly Voter[],
): Needs | undefined {
  if (authorize(policies, context).outcome !== 'OUTCOME_REQUIRES_CONSENSUS') return undefined
  return whoVotes(policies, context, people)
}

/**
 * Finds who would have to vote on a request that waits, whatever would be decided with the approvals of the context alone, since policies
 * may be others by now, or not active, and approvals lapse: the smallest sets of people, each of whom has to be somebody who may vote.
 */
export function whoVotes(policies: readonly CompiledPolicy[], context: PolicyContext, people: readonly Voter[]): Needs {
  const given = new Set(context.approvers.map(({ id }) => id))
  const others = people.filter(({ approver }) => !given.has(approver.id))
  const found = search(policies, context, others, 'smallest')
  if (found === 'gave-up') return 'too-many'
  return writeOut(found)[0] ?? 'nobody'
}

/**
 * Finds all sets of people who can get a request allowed among themselves, one of them by asking for it, and from which nobody
 * can be left out. Of the context the approvers and credentials are not read.
 */
export function whoCan(
  policies: readonly CompiledPolicy[],
  context: PolicyContext,
  people: readonly Voter[],
): Coalitions | 'gave-up' {
  return search(policies, { ...context, approvers: [], credentials: [] }, people, 'all')
}

/**
 * Tries sets of people with those policies alone that can take part (`taking-part.ts`), of which there are few; where what the others
 * would take may use the budget of a request up, with all of them.
 */
function search(
  policies: readonly CompiledPolicy[],
  start: PolicyContext,
  people: readonly Voter[],
  which: 'smallest' | 'all',
): Coalitions | 'gave-up' {
  const { taking, stepsOfOthers } = takingPart(policies, start)
  let isBudgetEnough = true
  const createRest = (joined: PolicyContext): Budget => {
    const budget = createBudget()
    budget.steps -= stepsOfOthers(joined)
    return budget
  }
  const found = searchAmong(taking, start, people, {
    which,
    createRest,
    onEnd: (rest) => (isBudgetEnough &&= !isUsedUp(rest)),
  })
  if (isBudgetEnough) return found
  return searchAmong(policies, start, people, { which, createRest: createBudget, onEnd: () => {} })
}

function searchAmong(
  policies: readonly CompiledPolicy[],
  start: PolicyContext,
  people: readonly Voter[],
  {
    which,
    createRest,
    onEnd,
  }: {
    /** All who could ask for it and vote, the first by asking, or the smallest sets of those who vote on what was asked for. */
    readonly which: 'smallest' | 'all'
    readonly createRest: (joined: PolicyContext) => Budget
    readonly onEnd: (rest: Budget) => void
  },
): Coalitions | 'gave-up' {
  const reads = readsOf(...policies.flatMap(({ consensus, condition }) => [consensus?.tree, condition?.tree]))
  const join = (context: PolicyContext, { approver, credential }: Ballot) => {
    const joined = withApproval(context, approver, credential)
    // Asking for it is the first approval, and needs nobody's leave; it only must not be denied.
    const asks = which === 'all' && context.approvers.length === 0
    if (!asks) {
      const rest = createRest(joined)
      const isVote = mayVote(policies, context, approver, credential, rest)
      onEnd(rest)
      if (!isVote) return 'refused'
    }
    const rest = createRest(joined)
    const { outcome } = authorize(policies, joined, rest)
    onEnd(rest)
    if (outcome === 'OUTCOME_ALLOW') return 'allowed'
    return outcome === 'OUTCOME_REQUIRES_CONSENSUS' ? { waits: joined } : 'denied'
  }
  // Whether one more than any policy counts to, or even more: no policy tells, and the quorum is met before.
  const mostAlike = Math.max(reads.largestCount + 1, start.rootQuorum?.threshold ?? 0)
  return findCoalitions(classesOf(people, reads, start), { start, join, which, ordered: reads.ordered, mostAlike })
}

/** The context with one more approval: a user counts once, and so does a credential. */
function withApproval(
  context: PolicyContext,
  approver: Approver,
  credential: CredentialFacts | undefined,
): PolicyContext {
  const { approvers, credentials = [] } = context
  const known = credential === undefined || credentials.some(({ id }) => id === credential.id)
  return {
    ...context,
    approvers: [...approvers, approver],
    credentials: known ? credentials : [...credentials, credential],
  }
}

/**
 * Classes of people that no policy can tell apart: in or out of the quorum, and with the same answers to all that the policies ask of
 * approvers and of credentials. Of credentials that cannot be told apart one is kept.
 */
function classesOf(
  people: readonly Voter[],
  reads: Reads,
  { rootQuorum }: PolicyContext,
): readonly (readonly Elector<Ballot>[])[] {
  const members = new Set(rootQuorum?.userIds)
  const userKey = keyOfAnswers(reads, 'approvers')
  const credentialKey = keyOfAnswers(reads, 'credentials')
  const electors = people.map(({ name, approver, views = [approver], credentials = [] }) => {
    const keys = credentials.map(credentialKey)
    const ways = new Map<string, Ballot>()
    for (const approver of views) {
      const user = userKey(approver)
      // Of those that no policy can tell apart any one is kept.
      for (const [at, credential] of (credentials[0] ? credentials : [undefined]).entries())
        ways.set(`${user} ${keys[at]}`, { approver, credential })
    }
    const sorted = [...ways].sort()
    const elector = { name, ballots: sorted.map(([, ballot]) => ballot) }
    return { key: [members.has(approver.id), ...sorted.map(([way]) => way)].join('\n'), elector }
  })
  const classes = Map.groupBy(electors, ({ key }) => key)
  return [...classes.values()].map((alike) => alike.map(({ elector }) => elector))
}

/** A key of the properties of a user or credential that policies can tell apart: JSON texts, equal for those whom none does. */
function keyOfAnswers({ chains, comparisons }: Reads, root: 'approvers' | 'credentials'): (one: object) => string {
  if (chains.has(root)) return JSON.stringify
  const asked = [...chains]
    .filter(([chain]) => chain.startsWith(`${root}.`))
    .map(([chain, use]) => {
      const field = chain.slice(root.length + 1)
      return { field, use, kinds: use === 'otherwise' ? undefined : kindsOf(comparisons.get(chain) ?? []) }
    })
  if (asked.length === 0) return () => ''
  return (one) =>
    asked.map(({ field, use, kinds }) => answer((one as Record<string, unknown>)[field], use, kinds)).join()
}

/** Texts by what tells them apart: the places of the comparisons that hold of each. */
function kindsOf(comparisons: readonly ReadonlySet<string>[]): ReadonlyMap<unknown, string> {
  const kinds = new Map<string, string>()
  for (const [place, texts] of comparisons.entries())
    for (const text of texts) kinds.set(text, `${kinds.get(text) ?? ''} ${place}`)
  return kinds
}

/** What is absent errs where another value only differs. */
function answer(value: unknown, use: Use, kinds: ReadonlyMap<unknown, string> | undefined): string {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  const told = values.filter((one) => one == null || use === 'otherwise' || use.has(`${one}`))
  // A list is compared with one text at a time.
  return JSON.stringify(kinds === undefined || Array.isArray(value) ? told : told.map((one) => kinds.get(one) ?? one))
}
