import { authorize, compilePolicy, type PolicyContext, type PolicyField } from '../../src/policy/index.ts'

const base: PolicyContext = {
  now: 0n,
  activity: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' },
  approvers: [{ id: 'ana' }],
}

/** What one expression comes to in a context: `true`, `false`, or the kind of its error. */
export function evaluate(field: PolicyField, text: string, context: Partial<PolicyContext> = {}): string {
  const policy = compilePolicy({ id: 'p', name: 'p', effect: 'EFFECT_DENY', [field]: text })
  const [outcome] = authorize([policy], { ...base, ...context }).policies
  if (outcome!.error !== undefined) return outcome!.error.kind
  return String(outcome!.outcome === 'OUTCOME_DENY_EXPLICIT')
}

/** A condition over a transaction of Ethereum. */
export function evaluateEth(text: string, tx: Readonly<Record<string, unknown>>): string {
  return evaluate('condition', text, { eth: { tx } })
}
