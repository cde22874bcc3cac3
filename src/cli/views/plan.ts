import { EXIT, QuorateError } from '../../diagnostics/index.ts'
import { type Plan, renderPlanText } from '../../plan/index.ts'
import type { CommandInput } from '../command.ts'

/** Shows a plan: the document itself as JSON, or the tree for people. */
export function showPlan({ io, json }: Pick<CommandInput, 'io' | 'json'>, plan: Plan): void {
  io.out(json ? `${JSON.stringify(plan, null, 2)}\n` : renderPlanText(plan, { ...io.style, bold: io.style.strong }))
}

/** Throws `cli/refused` when a guard stops the plan that no bypass lets pass. */
export function assertAllowed(plan: Plan): void {
  const stopped = plan.guards.filter(({ allowed }) => !allowed)
  if (stopped.length === 0) return
  throw new QuorateError('cli/refused', stopped.map(({ message }) => message).join('; '), {
    facts: { guards: stopped.map(({ name }) => name).join(', '), submitted: 'nothing' },
    next: `change the definitions, or let it pass with ${stopped.map(({ bypass }) => bypass).join(' ')}`,
    exit: EXIT.refused,
  })
}
