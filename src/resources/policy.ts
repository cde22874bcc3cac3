import { formatAddress } from './address.ts'
import { POLICY_TIME } from './feature.ts'
import type { ChangeInput, Power, ResourceKind } from './kind.ts'
import * as wire from './wire/policy.ts'

/**
 * A policy. All of its expressions are managed: one that a definition leaves out is `null`, which holds always, and so
 * is the text `true` (docs/protocol/policies.md#a-policy), the only form in which the API lets one be cleared.
 */
export const policy: ResourceKind = {
  kind: 'policy',
  one: 'policy',
  many: 'policies',
  form: { key: 'policies', shape: 'map', renamable: true },
  fields: {
    name: { compare: 'exact', meaning: 'Its name.' },
    effect: {
      compare: 'exact',
      meaning: 'What it does when it applies.',
      required: true,
      schema: { enum: ['allow', 'deny'] },
    },
    consensus: {
      compare: 'exact',
      meaning: 'Who must have approved. Left out: anybody.',
      expression: 'consensus',
      absent: null,
      normal: wire.normalExpression,
      schema: { type: 'string' },
    },
    condition: {
      compare: 'exact',
      meaning: 'What it applies to. Left out: every activity.',
      expression: 'condition',
      absent: null,
      normal: wire.normalExpression,
      schema: { type: 'string' },
    },
    time: {
      compare: 'exact',
      meaning: 'When it applies. Left out: always. It works where the feature `POLICY_TIME` is.',
      expression: 'time',
      absent: null,
      normal: wire.normalExpression,
      schema: { type: 'string' },
    },
    notes: {
      compare: 'exact',
      meaning: 'A remark, shown with it. Taken out again: none.',
      cleared: '',
      schema: { type: 'string' },
    },
  },
  referable: true,
  deleteNeedsTombstone: false,
  rides: false,
  changedBy: ['CREATE_POLICY', 'CREATE_POLICIES', 'UPDATE_POLICY', 'DELETE_POLICY', 'DELETE_POLICIES'],
  identity: ({ name }) => name,
  needs: ({ desired }) => ((desired!.fields['time'] ?? null) === null ? [] : [formatAddress('feature', POLICY_TIME)]),
  create: {
    type: 'ACTIVITY_TYPE_CREATE_POLICIES',
    carries: 'all',
    parameters: (changes) => ({ policies: changes.map(({ desired }) => wire.toIntent(desired!)) }),
    produces: (changes) =>
      changes.map(({ desired }, index) => ({
        address: desired!.address,
        at: ['createPoliciesResult', 'policyIds', index],
      })),
  },
  update: () => ({
    type: 'ACTIVITY_TYPE_UPDATE_POLICY_V2',
    carries: 'one',
    parameters: ([change]) => wire.toUpdateIntent(change!.actual!.id!, change!.desired!, change!.fields),
  }),
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_POLICIES',
    carries: 'all',
    parameters: (changes) => ({ policyIds: changes.map(({ actual }) => actual!.id!) }),
  },
  power: policyPower,
}

/** Which of two texts is the wider is not asked here: a changed text may be, so it comes last. */
function policyPower({ desired, actual, fields }: ChangeInput, action: 'create' | 'update' | 'delete'): Power {
  const denies = (desired ?? actual)!.fields['effect'] === 'deny'
  if (action === 'create') return denies ? 'tightens' : 'loosens'
  if (action === 'delete') return actual!.fields['effect'] === 'deny' ? 'loosens' : 'tightens'
  if (fields.every((field) => field === 'name' || field === 'notes')) return 'neutral'
  const textChanges = fields.some((field) => field === 'consensus' || field === 'condition' || field === 'time')
  return denies && fields.includes('effect') && !textChanges ? 'tightens' : 'loosens'
}
