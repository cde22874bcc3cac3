import { type Batch, digestOf, type Forecast, fillParameters, type Plan } from '../plan/index.ts'
import type { Actual, Desired } from '../resources/index.ts'
import { outcomeOf } from './outcome.ts'
import { actingPerson } from './people.ts'
import { createPolicyCompiler } from './policies.ts'
import { applyBatch, type OrganizationState, standIns, startState } from './state.ts'

export interface ForecastInput {
  readonly desired: Desired
  readonly actual: Actual
  /** ISO 8601, for policies that ask for the time. @default when the plan was made */
  readonly now?: string
}

/**
 * Annotates every batch of a plan with what will come of it when the acting user submits it: our own evaluator decides
 * each activity against policies, tags, users and root quorum as the batches before it will have left them. What waits
 * is taken to be approved in the end, so that the batches after it are judged by the state they will meet.
 */
export function forecast(plan: Plan, { desired, actual, now = plan.createdAt }: ForecastInput): Plan {
  const ids = standIns(plan, desired)
  const compilePolicies = createPolicyCompiler()
  const nanoseconds = BigInt(Date.parse(now)) * 1_000_000n
  const judge = ({ type, parameters }: Batch, state: OrganizationState): Forecast => {
    const submitter = actingPerson(state, plan.actor)
    if (!submitter) return { outcome: 'denied', reason: `${plan.actor.userName} will not be a user any more` }
    const filled = fillParameters(parameters, ids) as Readonly<Record<string, unknown>>
    return outcomeOf({ type, parameters: filled, submitter, state, policies: compilePolicies(state), now: nanoseconds })
  }

  const forecasts: Forecast[] = []
  /** Batches that will not happen: denied, or after one that is. */
  const dead = new Set<number>()
  let state = startState(actual)
  for (const batch of plan.batches) {
    const missing = batch.after.find((one) => dead.has(one))
    const outcome: Forecast =
      missing === undefined
        ? judge(batch, state)
        : {
            outcome: 'depends',
            reason: `batch ${missing + 1} (${plan.batches[missing]!.summary}) would have to come first`,
          }
    forecasts.push(outcome)
    if (missing !== undefined || outcome.outcome === 'denied') dead.add(batch.index)
    else state = applyBatch(state, batch, { plan, desired, ids })
  }
  const batches = plan.batches.map((batch, index): Batch => ({ ...batch, forecast: forecasts[index]! }))
  const annotated: Plan = { ...plan, batches }
  return { ...annotated, digest: digestOf(annotated) }
}
