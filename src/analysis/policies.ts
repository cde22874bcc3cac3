import { type CompiledPolicy, createCompiler, type PolicyText } from '../policy/index.ts'
import type { Resource, Value } from '../resources/index.ts'
import { type OrganizationState, thingsOf } from './state.ts'

/** Compiles a policy, one text of it once. */
export type PolicyCompiler = (policy: PolicyText) => CompiledPolicy

/** Makes a compiler that everything in one forecast shares: most policies are in all of its states, and asked about in three ways. */
export function createPolicyCompiler(): PolicyCompiler {
  const compile = createCompiler()
  const compiled = new Map<PolicyText, CompiledPolicy>()
  return (policy) => {
    const known = compiled.get(policy) ?? compile(policy)
    compiled.set(policy, known)
    return known
  }
}

/** The policies of a state, compiled. */
export function policiesOf(state: OrganizationState, compile: PolicyCompiler): readonly CompiledPolicy[] {
  return thingsOf(state, 'policy').map((resource) => compile(policyText(resource)))
}

const texts = new WeakMap<Resource, PolicyText>()

/** A policy of a state as the evaluator reads it; of the same thing the same object. */
export function policyText(policy: Resource): PolicyText {
  const known = texts.get(policy) ?? readText(policy)
  texts.set(policy, known)
  return known
}

function readText({ id, name, fields }: Resource): PolicyText {
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
