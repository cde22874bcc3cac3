import { type CompiledPolicy, compilePolicy, type PolicyText } from '../policy/index.ts'
import type { Resource, Value } from '../resources/index.ts'
import { type OrganizationState, thingsOf } from './state.ts'

/** Compiles the policies of a state; one that has not changed since the last state is not compiled again. */
export function createPolicyCompiler(): (state: OrganizationState) => readonly CompiledPolicy[] {
  const compiled = new Map<string, CompiledPolicy>()
  return (state) =>
    thingsOf(state, 'policy').map((resource) => {
      const text = policyText(resource)
      const key = JSON.stringify(text)
      const known = compiled.get(key) ?? compilePolicy(text)
      compiled.set(key, known)
      return known
    })
}

/** A policy of a state as the evaluator reads it. */
export function policyText({ id, name, fields }: Resource): PolicyText {
  const { effect, consensus, condition, time } = fields
  return {
    id: id!,
    name,
    effect: effect === 'deny' ? 'EFFECT_DENY' : 'EFFECT_ALLOW',
    consensus: expression(consensus),
    condition: expression(condition),
    time: expression(time),
  }
}

function expression(value: Value | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
