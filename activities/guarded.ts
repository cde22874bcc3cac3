import { guardsThatStop, type Plan } from '../src/plan/index.ts'
import { ApplyError } from './error.ts'

/** Throws `apply/guarded` for a plan that a guard stops and whose bypass nobody gave, even if its run was admitted. */
export function assertUnguarded(plan: Plan): void {
  const stops = guardsThatStop(plan)
  if (stops.length === 0) return
  throw new ApplyError('apply/guarded', stops.map(({ message }) => message).join('; '), {
    facts: { guards: [...new Set(stops.map(({ name }) => name))].join(', '), submitted: 'nothing' },
  })
}
