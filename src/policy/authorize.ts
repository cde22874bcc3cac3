/**
 * Many policies → one decision (facts: policy-language §9-§12).
 *
 *   root-only activity      the quorum alone decides
 *   root quorum met         allow; policies are not consulted, not even DENY
 *   any applicable DENY     explicit deny
 *   any applicable ALLOW    allow
 *   an ALLOW that waits     requires consensus                              (U-pending)
 *   own credentials         allow: no policy has decided                    (U-own-cred)
 *   root quorum begun       requires consensus                              (U-pending)
 *   otherwise               implicit deny
 *
 * The order is the decision: each line is reached only when none above it has settled the request.
 */
import { findActivity } from '../protocol/index.ts'
import type { Probe, Unit } from './evaluate.ts'
import { type CompiledExpression, compileExpression } from './expression.ts'
import { createFrame, type Roots, rootsOfContext } from './frame.ts'
import { compileInclusion, type IsIncluded } from './inclusion.ts'
import type {
  Approver,
  CredentialFacts,
  Decision,
  Outcome,
  PolicyContext,
  PolicyField,
  PolicyOutcome,
  PolicyText,
} from './model.ts'
import { Fault } from './values.ts'

/** A policy whose expressions are parsed, checked and compiled once. */
export interface CompiledPolicy {
  readonly policy: PolicyText
  /** A field that is absent holds. */
  readonly time: CompiledExpression | undefined
  readonly condition: CompiledExpression | undefined
  readonly consensus: CompiledExpression | undefined
  readonly isIncluded: IsIncluded
}

/** Compiles a policy. Never throws: a field that cannot be compiled makes the policy `OUTCOME_ERROR` when it is evaluated. */
export function compilePolicy(policy: PolicyText): CompiledPolicy {
  return compileWatched(policy)
}

/** Who looks on as a field of a policy is evaluated. */
export type Watch = (field: PolicyField, types: Unit['types']) => Probe

/** Compiles a policy of which every evaluation is watched: for a trace or for coverage. Decides as `compilePolicy`'s does. */
export function compileWatched(policy: PolicyText, watch?: Watch): CompiledPolicy {
  const { time, condition, consensus } = policy
  const compiled = (field: PolicyField, text: string | undefined) =>
    text === undefined || text === null
      ? undefined
      : compileExpression(field, text, watch && ((types) => watch(field, types)))
  const who = compiled('consensus', consensus)
  return {
    policy,
    // An empty time is always active; an empty condition or consensus does not parse (facts: policy-language §1, §9).
    time: compiled('time', time === '' ? undefined : time),
    condition: compiled('condition', condition),
    consensus: who,
    isIncluded: who === undefined ? () => true : who.tree ? compileInclusion(who.unit, who.tree) : () => false,
  }
}

/** Decides a request. Order of policies does not matter to the outcome; `policies` keeps it. */
export function authorize(policies: readonly CompiledPolicy[], context: PolicyContext): Decision {
  if (context.batch === undefined || context.batch.length === 0) return decide(policies, context)
  // Every item is judged by itself, all or nothing (U-batch).
  const { batch, ...shared } = context
  const decisions = batch.map((item) => decide(policies, { ...shared, ...item }))
  return decisions.reduce((worst, next) => (severity(next.outcome) > severity(worst.outcome) ? next : worst))
}

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

function decide(policies: readonly CompiledPolicy[], context: PolicyContext): Decision {
  const row = findActivity(context.activity.type)?.row
  const quorum = quorumOf(context)
  if (quorum === 'met') return { outcome: 'OUTCOME_ALLOW', basis: 'root-quorum', policies: [] }
  if (row?.rootOnly) {
    if (quorum === 'begun') return { outcome: 'OUTCOME_REQUIRES_CONSENSUS', basis: 'quorum-begun', policies: [] }
    return { outcome: 'OUTCOME_DENY_IMPLICIT', basis: 'root-only', policies: [] }
  }
  const roots = rootsOfContext(context)
  const outcomes = policies.map((policy) => evaluatePolicy(policy, roots, context))
  const some = (outcome: Outcome) => outcomes.some((policy) => policy.outcome === outcome)
  const by = (outcome: Outcome, basis: Decision['basis']): Decision => ({ outcome, basis, policies: outcomes })

  // A policy that errs takes no part: it neither allows nor denies, even when its effect is DENY (U-err-final).
  if (some('OUTCOME_DENY_EXPLICIT')) return by('OUTCOME_DENY_EXPLICIT', 'policy')
  if (some('OUTCOME_ALLOW')) return by('OUTCOME_ALLOW', 'policy')
  if (some('OUTCOME_REQUIRES_CONSENSUS')) return by('OUTCOME_REQUIRES_CONSENSUS', 'policy')
  if (isOwnCredentials(context)) return by('OUTCOME_ALLOW', 'own-credentials')
  if (quorum === 'begun') return by('OUTCOME_REQUIRES_CONSENSUS', 'quorum-begun')
  return by('OUTCOME_DENY_IMPLICIT', 'nothing-allows')
}

/** The outcome of one policy (U-per-policy). */
function evaluatePolicy(compiled: CompiledPolicy, roots: Roots, context: PolicyContext): PolicyOutcome {
  const { policy } = compiled
  const { id: policyId, effect } = policy
  const time = holds(compiled.time, roots)
  if (time === false) return { policyId, outcome: 'OUTCOME_TIME_INACTIVE' }
  // Both are evaluated whatever the other is; of two errors the condition's is told.
  const condition = holds(compiled.condition, roots)
  const consensus = holds(compiled.consensus, roots)
  const error = errorOf('time', time) ?? errorOf('condition', condition) ?? errorOf('consensus', consensus)
  if (error !== undefined) return { policyId, outcome: 'OUTCOME_ERROR', error }
  if (condition === true && consensus === true)
    return { policyId, outcome: effect === 'EFFECT_ALLOW' ? 'OUTCOME_ALLOW' : 'OUTCOME_DENY_EXPLICIT' }
  if (effect === 'EFFECT_ALLOW' && condition === true && someVoterIsIncluded(compiled, roots, context))
    return { policyId, outcome: 'OUTCOME_REQUIRES_CONSENSUS' }
  return { policyId, outcome: 'OUTCOME_DENY_IMPLICIT' }
}

function holds(expression: CompiledExpression | undefined, roots: Roots): boolean | Fault {
  if (expression === undefined) return true
  const value = expression.evaluate(createFrame(roots))
  if (typeof value === 'boolean' || value instanceof Fault) return value
  const end = expression.unit.text.length
  return new Fault('TypeMismatch', `the ${expression.field} is not true or false`, { start: 0, end })
}

function errorOf(field: PolicyField, result: boolean | Fault): PolicyOutcome['error'] {
  if (typeof result === 'boolean') return undefined
  const { kind, message, start, end } = result
  return { kind, message, field, start, end }
}

function someVoterIsIncluded(compiled: CompiledPolicy, roots: Roots, context: PolicyContext): boolean {
  const { approvers, credentials = [] } = context
  return (
    approvers.some((approver) => compiled.isIncluded(roots, approver, undefined)) ||
    credentials.some((credential) => compiled.isIncluded(roots, undefined, credential))
  )
}

/**
 * Whether a user may approve or reject a waiting activity: a member of the root quorum, or included in the consensus of
 * an ALLOW policy that is active and whose condition holds (facts: policy-language §10, U-included; protocol §7).
 * The context is the activity's, with the votes so far.
 */
export function mayVote(
  policies: readonly CompiledPolicy[],
  context: PolicyContext,
  voter: Approver,
  credential?: CredentialFacts,
): boolean {
  if (context.rootQuorum?.userIds.includes(voter.id)) return true
  if (findActivity(context.activity.type)?.row.rootOnly) return false
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
    (item) => decide(policies, { ...shared, approvers, credentials, ...item }).outcome !== 'OUTCOME_ALLOW',
  )
  const items: readonly PolicyContext[] =
    batch.length === 0 ? [joined] : waiting.map((item) => ({ ...joined, ...item }))
  return items.some((item) => {
    const roots = rootsOfContext(item)
    return policies.some(
      (compiled) =>
        compiled.policy.effect === 'EFFECT_ALLOW' &&
        holds(compiled.time, roots) === true &&
        holds(compiled.condition, roots) === true &&
        compiled.isIncluded(roots, voter, credential),
    )
  })
}

function quorumOf({ approvers, rootQuorum }: PolicyContext): 'met' | 'begun' | 'none' {
  if (rootQuorum === undefined || rootQuorum.threshold < 1) return 'none'
  const members = new Set(rootQuorum.userIds)
  const given = new Set(approvers.map(({ id }) => id).filter((id) => members.has(id))).size
  return given >= rootQuorum.threshold ? 'met' : given > 0 ? 'begun' : 'none'
}

/** Create and delete of credentials whose owner is the only voter (U-own-cred-scope). */
function isOwnCredentials({ activity, approvers, targetUserId }: PolicyContext): boolean {
  const row = findActivity(activity.type)?.row
  return (
    row?.resource === 'CREDENTIAL' &&
    (row.action === 'CREATE' || row.action === 'DELETE') &&
    targetUserId !== undefined &&
    approvers.length === 1 &&
    approvers[0]!.id === targetUserId
  )
}
