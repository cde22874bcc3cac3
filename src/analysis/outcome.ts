import type { Forecast } from '../plan/index.ts'
import {
  activityParams,
  authorize,
  type CompiledPolicy,
  type Decision,
  type PolicyContext,
  whoElse,
} from '../policy/index.ts'
import { findActivity } from '../protocol/index.ts'
import { type Person, peopleOf, quorumOf } from './people.ts'
import { type OrganizationState, thingsOf } from './state.ts'

/** One request as it would be decided. */
export interface Request {
  readonly type: string
  /** References filled in. */
  readonly parameters: Readonly<Record<string, unknown>>
  readonly submitter: Person
  readonly state: OrganizationState
  readonly policies: readonly CompiledPolicy[]
  /** Nanoseconds since the epoch. */
  readonly now: bigint
}

/** Says what comes of a request, and who else would have to approve it. */
export function outcomeOf(request: Request): Forecast {
  const { policies, submitter, state } = request
  const alone = contextOf(request, [submitter])
  const decision = authorize(policies, alone)
  if (decision.outcome === 'OUTCOME_ALLOW') return { outcome: 'completes' }
  if (decision.outcome !== 'OUTCOME_REQUIRES_CONSENSUS')
    return { outcome: 'denied', reason: whyDenied(decision, request) }

  const needs = whoElse(policies, alone, peopleOf(state))
  if (needs === 'too-many')
    return { outcome: 'depends', reason: 'it waits, and there are too many ways to approve it to try them all' }
  if (needs === 'nobody' || !needs)
    return {
      outcome: 'denied',
      reason: 'it would wait for ever: no set of users who have a credential could approve it',
    }
  return { outcome: 'waits', needed: needs.sets, ...(needs.any ? { any: needs.any } : {}) }
}

/** What policies read of a request that these people approve. */
export function contextOf({ type, parameters, state, now }: Request, people: readonly Person[]): PolicyContext {
  return {
    now,
    activity: { type, params: activityParams(type, parameters) },
    approvers: people.map(({ approver }) => approver),
    credentials: people.map(({ credential }) => credential),
    rootQuorum: quorumOf(state),
    ...factsOf(type, parameters, state),
  }
}

/** What a request is about, beyond itself (U-wallets, U-own-cred-scope, docs/protocol/policies.md#roots). */
function factsOf(type: string, parameters: Request['parameters'], state: OrganizationState): Partial<PolicyContext> {
  const row = findActivity(type)?.row
  if (row?.resource === 'CREDENTIAL' && typeof parameters['userId'] === 'string')
    return { targetUserId: parameters['userId'] }
  if (row?.kind === 'DELETE_WALLETS' && Array.isArray(parameters['walletIds'])) {
    const ids: readonly unknown[] = parameters['walletIds']
    const wallets = thingsOf(state, 'wallet').filter(({ id }) => ids.includes(id))
    return { wallets: wallets.map(({ id, name }) => ({ id, label: name })) }
  }
  return {}
}

function whyDenied({ basis, policies: outcomes }: Decision, { policies, submitter }: Request): string {
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
