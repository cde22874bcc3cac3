import {
  approvalRounds,
  draftPlan,
  finishPlan,
  type Plan,
  type PlanInput,
  type PlanMade,
  withUndo,
} from '../plan/index.ts'
import { forecast } from './forecast.ts'
import { createPolicyCompiler, type PolicyCompiler } from './policies.ts'
import { undoOf } from './undo.ts'

/** Members of a plan that are not made from definitions and live state. */
export interface PlanNotes {
  /** The folder of the definitions, relative to the working directory. */
  readonly folder?: string
}

/**
 * Makes the plan with its forecast. What tightens comes first and what loosens comes last whatever happens; among
 * activities that are equally urgent, the order is taken that people have to approve in the fewest rounds. It says who could undo it.
 */
export function planWithForecast(input: PlanInput, { folder }: PlanNotes = {}): PlanMade {
  const draft = draftPlan(input)
  const compile = createPolicyCompiler()
  const ordered = bestOrder(forecast(draft.plan, input, compile), input, compile)
  const undo = undoOf(ordered, input, compile)
  const best = finishPlan(undo ? withUndo(ordered, undo, input.allow) : ordered)
  // Its digest stays: where the plan was made from is no part of it.
  return { ...draft, plan: { ...best, ...(folder === undefined ? {} : { folder }) } }
}

function bestOrder(plan: Plan, input: PlanInput, compile: PolicyCompiler): Plan {
  if (costOf(plan)[0]! === 0 && costOf(plan)[1]! <= 1) return plan
  const other = forecast(draftPlan({ ...input, kindsReversed: true }).plan, input, compile)
  return isLess(costOf(other), costOf(plan)) ? other : plan
}

/** Refused activities, rounds, activities that wait: fewer are better, the first counts most. */
function costOf(plan: Plan): readonly number[] {
  const count = (...outcomes: readonly string[]) =>
    plan.batches.filter(({ forecast: said }) => said !== undefined && outcomes.includes(said.outcome)).length
  return [count('denied', 'depends'), approvalRounds(plan), count('waits')]
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((value, index) => value !== b[index])
  return at >= 0 && a[at]! < b[at]!
}
