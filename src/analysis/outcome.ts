import {
  type actingVoter,
  contextOf as authorityContextOf,
  missingFactors,
  type Organization,
  timedBy,
} from '../authority/index.ts'
import type { Forecast } from '../plan/index.ts'
import { authorize, type CompiledPolicy, type Decision, type PolicyContext, whoElse } from '../policy/index.ts'
import { findActivity } from '../protocol/index.ts'
import { votersIn } from './everybody.ts'
import { type OrganizationState, thingsOf } from './state.ts'

/** One request as it would be decided. */
export interface ForecastRequest {
  readonly type: string
  /** References filled in. */
  readonly parameters: Readonly<Record<string, unknown>>
  readonly submitter: NonNullable<ReturnType<typeof actingVoter>>
  readonly state: OrganizationState
  readonly organization: Organization
  readonly policies: readonly CompiledPolicy[]
  readonly nowMs: number
}

/** Says what comes of a request, who else would have to approve it, and by which policies that may change with time. */
export function outcomeOf(request: ForecastRequest): Forecast {
  const { policies, organization, nowMs } = request
  const alone = contextOf(request)
  // Asked only where a policy has such a time: a plan has hundreds of requests.
  const answer = (some: readonly CompiledPolicy[]) => [
    authorize(some, alone).outcome,
    whoElse(some, alone, votersIn(organization, nowMs)),
  ]
  const timed = timedBy(policies, alone, answer)
  const now = outcomeNow(request, alone)
  return timed.length === 0 ? now : { ...now, timedBy: timed }
}

function outcomeNow(request: ForecastRequest, alone: PolicyContext): Forecast {
  const { policies, organization, nowMs } = request
  const decision = authorize(policies, alone)
  const factors = missingFactors(request.submitter, alone)
  if (decision.outcome === 'OUTCOME_ALLOW')
    return factors ? { outcome: 'waits', needed: [], factors } : { outcome: 'completes' }
  if (decision.outcome !== 'OUTCOME_REQUIRES_CONSENSUS')
    return { outcome: 'denied', reason: whyDenied(decision, request) }

  const needs = whoElse(policies, alone, votersIn(organization, nowMs))
  if (needs === 'too-many')
    return { outcome: 'depends', reason: 'it waits, and there are too many ways to approve it to try them all' }
  if (needs === 'nobody' || !needs)
    return {
      outcome: 'denied',
      reason: 'it would wait for ever: no set of users who have a credential could approve it',
    }
  return {
    outcome: 'waits',
    needed: needs.sets,
    ...(needs.any ? { any: needs.any } : {}),
    ...(factors ? { factors } : {}),
  }
}

/** What policies read of a request that its submitter alone has approved. */
export function contextOf({ type, parameters, submitter, state, organization, nowMs }: ForecastRequest): PolicyContext {
  return authorityContextOf(
    { type, parameters, nowMs, facts: walletsOf(type, parameters, state) },
    {
      approvers: [submitter.approver],
      credentials: [submitter.credential],
      rootQuorum: organization.rootQuorum,
    },
  )
}

/** The wallets that a request is about, where policies read them (U-wallets). */
export function walletsOf(
  type: string,
  parameters: ForecastRequest['parameters'],
  state: OrganizationState,
): Partial<PolicyContext> | undefined {
  if (findActivity(type)?.row.kind !== 'DELETE_WALLETS' || !Array.isArray(parameters['walletIds'])) return undefined
  const ids: readonly unknown[] = parameters['walletIds']
  const wallets = thingsOf(state, 'wallet').filter(({ id }) => ids.includes(id))
  return { wallets: wallets.map(({ id, name }) => ({ id, label: name })) }
}

function whyDenied({ basis, policies: outcomes }: Decision, { policies, submitter }: ForecastRequest): string {
  if (basis === 'root-only') return `only the root quorum may do it, and ${submitter.name} is not a member`
  if (basis !== 'policy') return 'no policy allows it'
  const names = outcomes
    .filter(({ outcome }) => outcome === 'OUTCOME_DENY_EXPLICIT')
    .map(({ policyId }) => policies.find(({ policy }) => policy.id === policyId)!.policy.name)
  return `${names.length === 1 ? 'policy' : 'policies'} ${names
    .sort()
    .map((name) => `\`${name}\``)
    .join(', ')} ${names.length === 1 ? 'denies' : 'deny'} it`
}
