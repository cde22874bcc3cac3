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

/** Throws `cli/denied` when an activity of the plan would be refused: better nothing than half. */
export function assertPermitted(plan: Plan): void {
  const denied = plan.batches.filter(({ forecast }) => forecast?.outcome === 'denied')
  const [first] = denied
  if (first?.forecast?.outcome !== 'denied') return
  throw new QuorateError('cli/denied', `${plan.actor.userName} may not ${first.summary}: ${first.forecast.reason}`, {
    facts: { activity: first.type, denied: `${denied.length} of ${plan.batches.length}`, submitted: 'nothing' },
    next: 'apply with the key of somebody who may, or add a policy that allows it',
  })
}
