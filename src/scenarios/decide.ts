/** One request, decided and explained. */
import { apiKeyFacts, approverOf, standingCredentials, timedBy } from '../authority/index.ts'
import {
  authorize,
  type CompiledPolicy,
  compilePolicy,
  type Explanation,
  explain,
  mayVote,
  type PolicyContext,
  whoElse,
} from '../policy/index.ts'
import { votersOf, type World } from './world.ts'

/** Decides a request in a world, with the reasons, and who else would have to approve. */
export function explainRequest(world: World, context: PolicyContext): Explanation {
  const policies = world.policies.map(compilePolicy)
  const people = votersOf(world, context.now)
  const answer = (some: readonly CompiledPolicy[]) => [authorize(some, context).outcome, whoElse(some, context, people)]
  const timed = timedBy(policies, context, answer)
  const explanation = explain(policies, context, { people, nameOf: (id) => world.names[id] })
  return timed.length === 0 ? explanation : { ...explanation, timedBy: timed }
}

/** Why a user could not do something. Plain data. */
export interface WhyNot {
  readonly user: string
  /** Whether the request would be allowed when this user alone asked for it. */
  readonly allowedAlone: boolean
  /** Whether their approval would count when the request waits, as it was asked for by those who did. */
  readonly mayVote: boolean
  /** Whether it waits at all, as it was asked for. */
  readonly waits: boolean
  /** The request as this user alone would ask for it. */
  readonly explanation: Explanation
}

/** Explains why a user could not do something; undefined when there is no such user. */
export function whyNot(world: World, context: PolicyContext, user: string): WhyNot | undefined {
  const found = Object.hasOwn(world.users, user) ? world.users[user] : undefined
  if (found === undefined) return undefined
  const approver = approverOf(found)
  const [credential = apiKeyFacts({ id: `${found.id} credential`, userId: found.id, type: 'P256', publicKey: '' })] =
    standingCredentials(found, Number(context.now / 1_000_000n))
  const explanation = explainRequest(world, { ...context, approvers: [approver], credentials: [credential] })
  const policies = world.policies.map(compilePolicy)
  return {
    user,
    allowedAlone: explanation.outcome === 'OUTCOME_ALLOW',
    mayVote: mayVote(policies, context, approver, credential),
    waits: authorize(policies, context).outcome === 'OUTCOME_REQUIRES_CONSENSUS',
    explanation,
  }
}
