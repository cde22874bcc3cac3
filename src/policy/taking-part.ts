/**
 * Which policies can take part in the decision of a request, with any votes. Of hundreds of policies most are of other activities
 * and wallets: a condition that does not hold is evaluated once instead of with every set of votes.
 *
 * Premise: a condition reads neither approvers nor credentials (`environment.ts`), so it comes to the same with every vote; and a policy
 * whose condition does not hold, or errs, neither allows nor denies nor invites anybody to vote. It still takes steps of the request's
 * budget, of which `stepsOfOthers` gives no fewer than they are.
 */
import { type CompiledPolicy, holds } from './compiled-policy.ts'
import { longestVoterList, needsOf } from './fast/sound.ts'
import { createBudget, createFrame, isUsedUp } from './frame.ts'
import type { PolicyContext } from './model.ts'

export interface TakingPart {
  readonly taking: readonly CompiledPolicy[]
  /** The steps that the others take at most of a request with these votes, for its decision or for whether one may vote. */
  readonly stepsOfOthers: (voted: PolicyContext) => number
}

/** Finds them. */
export function takingPart(policies: readonly CompiledPolicy[], request: PolicyContext): TakingPart {
  const { batch = [], ...shared } = request
  const items: readonly PolicyContext[] = batch.length === 0 ? [shared] : batch.map((item) => ({ ...shared, ...item }))
  const budget = createBudget()
  const frames = items.map((item) => createFrame(item, budget))
  const taking: CompiledPolicy[] = []
  const consensuses: { readonly cost: number; readonly depth: number; readonly longestList: number }[] = []
  let stepsOfConditions = 0
  for (const policy of policies) {
    const before = budget.steps
    const consensus = policy.consensus === undefined ? NOTHING : boundsOf(policy.consensus)
    const takesPart =
      consensus === undefined ||
      frames.some((frame) => {
        holds(policy.time, frame)
        return holds(policy.condition, frame) === true
      })
    if (isUsedUp(budget)) return { taking: policies, stepsOfOthers: () => 0 }
    if (takesPart) taking.push(policy)
    else {
      stepsOfConditions += before - budget.steps
      consensuses.push(consensus)
    }
  }
  const stepsOfOthers = (voted: PolicyContext) => {
    const longest = longestVoterList(voted)
    if (longest === undefined) return Number.POSITIVE_INFINITY
    const steps = ({ cost, depth, longestList }: (typeof consensuses)[number]) =>
      cost * Math.max(1, longest, longestList) ** depth
    const ofConsensuses = consensuses.reduce((sum, one) => sum + steps(one), 0)
    // Whether one may vote asks for the decision of each item of a batch first.
    return 2 * stepsOfConditions + items.length * ofConsensuses
  }
  return { taking, stepsOfOthers }
}

const NOTHING = { cost: 0, depth: 0, longestList: 0 }

/** What bounds the steps of an expression; undefined where nothing does. */
function boundsOf(expression: NonNullable<CompiledPolicy['consensus']>) {
  const needs = needsOf(expression)
  if (needs === undefined || needs.sliced.size > 0) return undefined
  return { cost: expression.cost, depth: needs.depth, longestList: needs.longestList }
}
