/**
 * Which policies can take part in the decision of a request, with any votes. Of hundreds of policies most are of other activities
 * and wallets: a condition that does not hold is evaluated once instead of with every set of votes.
 *
 * Premise: a condition reads neither approvers nor credentials (`environment.ts`), so it comes to the same with every vote; and a policy
 * whose condition does not hold, or errs, neither allows nor denies nor invites anybody to vote. It still takes steps of the request's
 * budget, of which `stepsOfOthers` gives no fewer than they are.
 */
import { type Expression, sizeOf } from './ast.ts'
import { type CompiledPolicy, holds } from './compiled-policy.ts'
import { compile } from './evaluate.ts'
import type { CompiledExpression } from './expression.ts'
import { longestVoterList, needsOf } from './fast/sound.ts'
import { createBudget, createFrame, type Frame, isUsedUp } from './frame.ts'
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
  const consensuses: Bounds[] = []
  const boundsOf = createBounds()
  const clauses = frames.map(createClauses)
  let stepsOfConditions = 0
  for (const policy of policies) {
    const before = budget.steps
    const consensus = boundsOf(policy)
    const takesPart =
      consensus === undefined ||
      frames.some((frame, at) => {
        holds(policy.time, frame)
        return clauses[at]!(policy.condition)
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
    const steps = ({ cost, depth, longestList }: Bounds) => cost * Math.max(1, longest, longestList) ** depth
    const ofConsensuses = consensuses.reduce((sum, one) => sum + steps(one), 0)
    // Whether one may vote asks for the decision of each item of a batch first.
    return 2 * stepsOfConditions + items.length * ofConsensuses
  }
  return { taking, stepsOfOthers }
}

/** What bounds the steps of an expression. */
interface Bounds {
  readonly cost: number
  readonly depth: number
  readonly longestList: number
}

/**
 * Finds what bounds the steps of a policy's consensus; undefined where nothing does. Texts that differ in what stands in quotes alone have
 * the same tree but for these literals, and where nothing is called or looked up by name, their values bear on no type and no bound: of
 * such texts one is compiled.
 */
function createBounds(): (policy: CompiledPolicy) => Bounds | undefined {
  const known = new Map<string, Bounds>()
  return (compiled) => {
    const text = compiled.policy.consensus
    if (text === undefined || text === null) return { cost: 0, depth: 0, longestList: 0 }
    const parts = text.split("'")
    const shape = parts.filter((_, at) => at % 2 === 0).join("'")
    const isWhole = parts.length % 2 === 1 && text.length < SHORT
    const same = isWhole ? known.get(shape) : undefined
    if (same) return { ...same, cost: same.cost + (text.length >> 6) }
    const { consensus } = compiled
    const needs = consensus && needsOf(consensus)
    if (!consensus || !needs || needs.sliced.size > 0) return undefined
    const { depth, longestList } = needs
    if (isWhole) known.set(shape, { cost: consensus.cost - (text.length >> 6), depth, longestList })
    return { cost: consensus.cost, depth, longestList }
  }
}

/** Texts of this length are never too long for an expression. */
const SHORT = 4_096

/** The evaluators of clauses, by their trees. */
const compiledClauses = new WeakMap<Expression, CompiledExpression>()

/**
 * Tells whether conditions hold for a request. The clauses that a condition joins with `&&` are evaluated by themselves, equal ones of many
 * conditions once; the request pays for each as often as it stands there.
 */
function createClauses(frame: Frame): (condition: CompiledExpression | undefined) => boolean {
  const known = new Map<string, { readonly holds: boolean; readonly steps: number }>()
  return (condition) => {
    const { tree } = condition ?? {}
    if (!condition || tree?.kind !== 'logic' || tree.operator !== '&&') return holds(condition, frame) === true
    const { field, unit, cost } = condition
    frame.budget.steps -= cost
    let all = true
    for (const clause of tree.operands) {
      const text = unit.text.slice(clause.start, clause.end)
      let found = known.get(text)
      if (found === undefined) {
        const expression = compiledClauses.get(clause) ?? {
          field,
          unit,
          tree: clause,
          evaluate: compile(unit, clause, undefined),
          cost: sizeOf(clause),
        }
        compiledClauses.set(clause, expression)
        const before = frame.budget.steps
        // Its nodes are paid for with the condition.
        frame.budget.steps += expression.cost
        found = { holds: holds(expression, frame) === true, steps: before - frame.budget.steps }
        frame.budget.steps = before
        known.set(text, found)
      }
      frame.budget.steps -= found.steps
      all &&= found.holds
    }
    return all
  }
}
