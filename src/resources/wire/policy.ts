import { formatAddress } from '../address.ts'
import type { Resource, Value } from '../model.ts'
import { malformed, takeOptionalText, takeText, type WireRecord } from './record.ts'

/** A policy out of the list of policies. */
export function fromWire(record: WireRecord): Resource {
  const name = takeText(record, 'policyName', 'policy')
  const effect = takeText(record, 'effect', 'policy')
  if (effect !== 'EFFECT_ALLOW' && effect !== 'EFFECT_DENY') {
    throw malformed('`effect` of a policy', 'EFFECT_ALLOW or EFFECT_DENY', effect)
  }
  return {
    address: formatAddress('policy', name),
    kind: 'policy',
    name,
    id: takeText(record, 'policyId', 'policy'),
    fields: {
      name,
      effect: effect === 'EFFECT_ALLOW' ? 'allow' : 'deny',
      consensus: normalExpression(takeOptionalText(record, 'consensus', 'policy')),
      condition: normalExpression(takeOptionalText(record, 'condition', 'policy')),
      time: normalExpression(takeOptionalText(record, 'time', 'policy')),
      notes: takeOptionalText(record, 'notes', 'policy') ?? '',
    },
  }
}

/**
 * The form in which an expression is compared: `null` for what is absent and for the text `true`, which mean the same
 * (docs/protocol/policies.md#a-policy): an update cannot make an expression absent again, only `true`.
 */
export function normalExpression(text: Value | undefined): Value {
  return text === undefined || (typeof text === 'string' && ['', 'true'].includes(text.trim())) ? null : text
}

/** One entry of `create_policies`. */
export function toIntent(policy: Resource): Value {
  const { consensus = null, condition = null, time = null, notes = '' } = policy.fields
  return {
    policyName: policy.name,
    effect: wireEffect(policy),
    ...(condition === null ? {} : { condition }),
    ...(consensus === null ? {} : { consensus }),
    ...(time === null ? {} : { time }),
    notes,
  }
}

/**
 * The parameters of `update_policy` (V2): what differs and nothing else. An absent property leaves a value alone and
 * an empty expression is refused, so one that goes becomes `true`; only `time` may be emptied (U-clear-field,
 * docs/protocol/policies.md#a-policy).
 */
export function toUpdateIntent(policyId: string, policy: Resource, fields: readonly string[]): Value {
  const { consensus = null, condition = null, time = null, notes = '' } = policy.fields
  return {
    policyId,
    ...(fields.includes('name') ? { policyName: policy.name } : {}),
    ...(fields.includes('effect') ? { policyEffect: wireEffect(policy) } : {}),
    ...(fields.includes('condition') ? { policyCondition: condition ?? 'true' } : {}),
    ...(fields.includes('consensus') ? { policyConsensus: consensus ?? 'true' } : {}),
    ...(fields.includes('time') ? { time: time ?? '' } : {}),
    ...(fields.includes('notes') ? { policyNotes: notes } : {}),
  }
}

function wireEffect(policy: Resource): string {
  return policy.fields['effect'] === 'deny' ? 'EFFECT_DENY' : 'EFFECT_ALLOW'
}
