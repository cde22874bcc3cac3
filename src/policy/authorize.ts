/**
 * Many policies → one decision (docs/protocol/policies.md#the-decision).
 *
 *   root-only activity      the quorum alone decides
 *   root quorum met         allow; policies are not consulted, not even DENY
 *   budget used up          no policy decides, for a DENY may be among those that were not evaluated
 *   any applicable DENY     explicit deny
 *   any applicable ALLOW    allow
 *   an ALLOW that waits     requires consensus                              (U-pending)
 *   own credentials         allow: no policy has decided                    (U-own-cred)
 *   root quorum begun       requires consensus                              (U-pending)
 *   otherwise               implicit deny
 *
 * The order is the decision: each line is reached only when none above it has settled the request.
 */
import { activityRow } from '../protocol/catalogue.ts'
import type { ActivityRow } from '../protocol/index.ts'
import { type CompiledPolicy, evaluateEach, holds } from './compiled-policy.ts'
import type { PolicyIndex } from './fast/index-of-policies.ts'
import { type Budget, createBudget, createFrame, type Frame, isUsedUp } from './frame.ts'
import type { Approver, CredentialFacts, Decision, Outcome, PolicyContext, PolicyOutcome } from './model.ts'

export { type CompiledPolicy, compilePolicy, compileWatched, createCompiler } from './compiled-policy.ts'

/** The policies for a decision, or an index of them where there are many requests. */
export type Policies = readonly CompiledPolicy[] | PolicyIndex

/**
 * Decides a request, within what is left of its budget. Order of policies does not matter to the outcome; `policies` keeps it. For many requests and more
 * than a handful of policies, give an index of them (`indexPolicies`).
 *
 * @example
 * authorize(
 *   [
 *     compilePolicy({ id: '1', name: 'signing', effect: 'EFFECT_ALLOW', condition: "activity.action == 'SIGN'" }),
 *     compilePolicy({ id: '2', name: 'vault', effect: 'EFFECT_DENY', condition: "wallet.label == 'vault'" }),
 *   ],
 *   {
 *     now: 0n,
 *     activity: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' },
 *     approvers: [{ id: 'alice' }],
 *     wallet: { id: 'w', label: 'vault' },
 *   },
 * )
 * //=> {
 * //=>   outcome: 'OUTCOME_DENY_EXPLICIT',
 * //=>   basis: 'policy',
 * //=>   policies: [
 * //=>     { policyId: '1', outcome: 'OUTCOME_ALLOW' },
 * //=>     { policyId: '2', outcome: 'OUTCOME_DENY_EXPLICIT' },
 * //=>   ],
 * //=> }
 */
export function authorize(policies: Policies, context: PolicyContext, budget: Budget = createBudget()): Decision {
  const items = itemsOf(context)
  const indexed = isIndex(policies) ? decideByIndex(policies, items, budget) : undefined
  if (indexed !== undefined) return indexed
  const each = isIndex(policies) ? policies.policies : policies
  return decideItems(items, budget, (frame) => evaluateEach(each, frame))
}

/**
 * Decides as `authorize` does, and stops after each so many steps of policies, so that the caller can do something else in
 * between. For what is too long to be decided at one go; one policy is not divided.
 */
export function* authorizeInSteps(
  policies: Policies,
  context: PolicyContext,
  budget: Budget,
  { steps }: { readonly steps: number },
): Generator<void, Decision, void> {
  const each = isIndex(policies) ? policies.policies : policies
  let worst: Decision | undefined
  let stopAt = budget.steps - steps
  for (const item of itemsOf(context)) {
    const frame = createFrame(item, budget)
    const quorum = quorumOf(item)
    let next = decideByQuorum(frame, quorum)
    if (next === undefined) {
      const outcomes: PolicyOutcome[] = []
      for (const policy of each) {
        outcomes.push(...evaluateEach([policy], frame))
        if (budget.steps > stopAt) continue
        stopAt = budget.steps - steps
        yield
      }
      next = decideByOutcomes(frame, quorum, outcomes)
    }
    worst = worseOf(worst, next)
  }
  return worst!
}

/** The items of a batch, each of which is judged by itself, all or nothing (U-batch); else the request itself. */
function itemsOf(context: PolicyContext): readonly PolicyContext[] {
  const { batch = [], ...shared } = context
  return batch.length === 0 ? [context] : batch.map((item) => ({ ...shared, ...item }))
}

/**
 * Whether the condition of a policy holds for a request, for each of its several calls; undefined where it cannot be
 * evaluated. Such conditions stand by themselves elsewhere: the scope of a session, the condition of an MFA policy
 * (U-other-errors).
 */
export function conditionHolds(
  { condition }: Pick<CompiledPolicy, 'condition'>,
  { batch = [], ...shared }: PolicyContext,
  budget: Budget = createBudget(),
): boolean | undefined {
  const items: readonly PolicyContext[] = batch.length === 0 ? [shared] : batch.map((item) => ({ ...shared, ...item }))
  const outcomes = items.map((item) => holds(condition, createFrame(item, budget)))
  if (isUsedUp(budget) || outcomes.some((outcome) => typeof outcome !== 'boolean')) return undefined
  return outcomes.every((outcome) => outcome === true)
}

/**
 * Decides by the index where whatever it passes over cannot have used the budget up; undefined otherwise. INVARIANT:
 * policies one by one and their index must decide alike, so the index may only skip evaluations that cannot change the
 * decision.
 */
function decideByIndex(policies: PolicyIndex, items: readonly PolicyContext[], budget: Budget): Decision | undefined {
  const most = policies.mostSteps(items)
  if (most === undefined || most > budget.steps) return undefined
  const rest: Budget = { ...budget, steps: budget.steps - most }
  const decision = decideItems(items, rest, policies.evaluate)
  if (isUsedUp(rest)) return undefined
  budget.steps = rest.steps + most
  return decision
}

function decideItems(items: readonly PolicyContext[], budget: Budget, evaluate: EvaluatePolicies): Decision {
  let worst: Decision | undefined
  for (const item of items) worst = worseOf(worst, decide(item, budget, evaluate))
  return worst!
}

function worseOf(worst: Decision | undefined, next: Decision): Decision {
  return worst === undefined || severity(next.outcome) > severity(worst.outcome) ? next : worst
}

type EvaluatePolicies = PolicyIndex['evaluate']

/** From what is best for the request to what is worst (U-batch). */
const bySeverity: readonly Outcome[] = [
  'OUTCOME_ALLOW',
  'OUTCOME_REQUIRES_CONSENSUS',
  'OUTCOME_DENY_IMPLICIT',
  'OUTCOME_DENY_EXPLICIT',
]

function severity(outcome: Outcome): number {
  return bySeverity.indexOf(outcome)
}

function decide(context: PolicyContext, budget: Budget, evaluate: EvaluatePolicies): Decision {
  const frame = createFrame(context, budget)
  const quorum = quorumOf(context)
  return decideByQuorum(frame, quorum) ?? decideByOutcomes(frame, quorum, evaluate(frame))
}

/** The decision where no policy is asked. */
function decideByQuorum({ row }: Frame, quorum: Quorum): Decision | undefined {
  if (quorum === 'met') return { outcome: 'OUTCOME_ALLOW', basis: 'root-quorum', policies: [] }
  if (row?.rootOnly) {
    if (quorum === 'begun') return { outcome: 'OUTCOME_REQUIRES_CONSENSUS', basis: 'quorum-begun', policies: [] }
    return { outcome: 'OUTCOME_DENY_IMPLICIT', basis: 'root-only', policies: [] }
  }
  return undefined
}

function decideByOutcomes(
  { context, row, budget }: Frame,
  quorum: Quorum,
  outcomes: readonly PolicyOutcome[],
): Decision {
  // A policy that errs takes no part: it neither allows nor denies, even when its effect is DENY (U-err-final).
  const decided = isUsedUp(budget) ? undefined : strongest(outcomes)
  // An ALLOW that waits for others does not hold up who was invited: they have decided when they invited.
  const waits = decided === 'OUTCOME_REQUIRES_CONSENSUS' && row?.family === INVITED
  if (decided !== undefined && !waits) return { outcome: decided, basis: 'policy', policies: outcomes }
  if (!isUsedUp(budget) && isOwnCredentials(context, row))
    return { outcome: 'OUTCOME_ALLOW', basis: 'own-credentials', policies: outcomes }
  if (quorum === 'begun') return { outcome: 'OUTCOME_REQUIRES_CONSENSUS', basis: 'quorum-begun', policies: outcomes }
  return { outcome: 'OUTCOME_DENY_IMPLICIT', basis: 'nothing-allows', policies: outcomes }
}

function isIndex(policies: Policies): policies is PolicyIndex {
  return !Array.isArray(policies)
}

/** An explicit deny outweighs an allow, and that a wait for consensus. */
function strongest(outcomes: readonly PolicyOutcome[]): Outcome | undefined {
  let decided: Outcome | undefined
  for (let i = 0; i < outcomes.length; i++) {
    const { outcome } = outcomes[i]!
    if (outcome === 'OUTCOME_DENY_EXPLICIT') return outcome
    if (outcome === 'OUTCOME_ALLOW' || (outcome === 'OUTCOME_REQUIRES_CONSENSUS' && decided === undefined))
      decided = outcome
  }
  return decided
}

/**
 * Whether a user may approve or reject a waiting activity: a member of the root quorum, or included in the consensus of
 * an ALLOW policy that is active and whose condition holds (U-included, docs/protocol/activities.md#votes).
 * The context is the activity's, with the votes so far.
 */
export function mayVote(
  policies: Policies,
  context: PolicyContext,
  voter: Approver,
  credential?: CredentialFacts,
  budget: Budget = createBudget(),
): boolean {
  if (context.rootQuorum?.userIds.includes(voter.id)) return true
  if (activityRow(context.activity.type)?.rootOnly) return false
  const { batch = [], approvers, credentials = [], ...shared } = context
  const joined = {
    ...shared,
    approvers: approvers.some(({ id }) => id === voter.id) ? approvers : [...approvers, voter],
    credentials:
      credential === undefined || credentials.some(({ id }) => id === credential.id)
        ? credentials
        : [...credentials, credential],
  }
  // Of a batch, the items that are allowed already give nobody a say in those that wait.
  const waiting = batch.filter(
    (item) => authorize(policies, { ...shared, approvers, credentials, ...item }, budget).outcome !== 'OUTCOME_ALLOW',
  )
  const items: readonly PolicyContext[] =
    batch.length === 0 ? [joined] : waiting.map((item) => ({ ...joined, ...item }))
  const each = isIndex(policies) ? policies.policies : policies
  return items.some((item) => {
    const frame = createFrame(item, budget)
    return each.some(
      (compiled) =>
        compiled.policy.effect === 'EFFECT_ALLOW' &&
        holds(compiled.time, frame) === true &&
        holds(compiled.condition, frame) === true &&
        compiled.isIncluded(frame, voter, credential),
    )
  })
}

type Quorum = 'met' | 'begun' | 'none'

function quorumOf({ approvers, rootQuorum }: PolicyContext): Quorum {
  if (rootQuorum === undefined || rootQuorum.threshold < 1) return 'none'
  let given = 0
  for (let i = 0; i < approvers.length; i++) {
    const { id } = approvers[i]!
    const counted = approvers.findIndex((other) => other.id === id) < i
    if (!counted && rootQuorum.userIds.includes(id)) given++
  }
  return given >= rootQuorum.threshold ? 'met' : given > 0 ? 'begun' : 'none'
}

const INVITED = 'ACCEPT_INVITATION'

/** Logins by which a user gets nothing but a key, or a token, of its own that ends by itself. */
const OWN_LOGINS: ReadonlySet<string | undefined> = new Set([
  'STAMP_LOGIN',
  'CREATE_READ_ONLY_SESSION',
  'CREATE_READ_WRITE_SESSION',
  // Of the user alone whose account it is, which its handler sees to.
  'RECOVER_USER',
  // Of whom the key was mailed to alone, which its handler sees to.
  INVITED,
])

/** Create and delete of credentials, and logins, whose owner is the only voter (U-own-cred-scope). */
function isOwnCredentials({ approvers, targetUserId }: PolicyContext, row: ActivityRow | undefined): boolean {
  return (
    targetUserId !== undefined &&
    ((row?.resource === 'CREDENTIAL' && (row.action === 'CREATE' || row.action === 'DELETE')) ||
      OWN_LOGINS.has(row?.family)) &&
    approvers.length === 1 &&
    approvers[0]!.id === targetUserId
  )
}
