import type { ChangeInput, Power, ResourceKind } from './kind.ts'
import * as wire from './wire/mfa-policy.ts'

const METHODS = ['passkey', 'api-key', 'session', 'email-otp', 'sms-otp', 'oauth']

/**
 * Which further factors the votes of its user need (docs/protocol/mfa.md). It stands with the user; root users are not exempt,
 * the one who applies it among them.
 */
export const mfaPolicy: ResourceKind = {
  kind: 'mfaPolicy',
  one: 'MFA policy',
  many: 'MFA policies',
  parent: 'user',
  form: { key: 'mfaPolicies', shape: 'map', renamable: true },
  fields: {
    name: { compare: 'exact', meaning: 'Its name.' },
    condition: {
      compare: 'exact',
      meaning: "Which of the user's votes it is for, in the policy language; `true` for all.",
      required: true,
      expression: 'condition',
      schema: { type: 'string', minLength: 1 },
    },
    requiredAuthenticationMethods: {
      compare: 'exact',
      meaning:
        'The steps, all of which are needed: each a method, or a list of methods of which one suffices. ' +
        'An `id` narrows a method to one credential, and `session` to a session profile.',
      required: true,
      schema: {
        type: 'array',
        minItems: 1,
        items: {
          type: ['string', 'object', 'array'],
          if: { type: 'array' },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: { minItems: 1, items: methodSchema() },
          else: methodSchema(),
        },
      },
      normal: (value) => (Array.isArray(value) ? value.map(wire.normalStep) : value),
    },
    order: {
      compare: 'exact',
      meaning: 'Its place among those of its user: the lowest whose condition holds applies, and no other.',
      required: true,
      schema: { type: 'integer', minimum: 0, maximum: 4_294_967_295 },
    },
    notes: {
      compare: 'exact',
      meaning: 'A remark, shown with it. Taken out again: none.',
      cleared: '',
      schema: { type: 'string' },
    },
  },
  referable: false,
  deleteNeedsTombstone: false,
  rides: false,
  changedBy: ['CREATE_MFA_POLICY', 'UPDATE_MFA_POLICY', 'DELETE_MFA_POLICY', 'DELETE_USERS'],
  identity: ({ name }) => name,
  create: {
    type: 'ACTIVITY_TYPE_CREATE_MFA_POLICY',
    carries: 'one',
    parameters: ([change]) => wire.toIntent(change!.desired!),
    produces: ([change]) => [{ address: change!.desired!.address, at: ['createMfaPolicyResult', 'mfaPolicyId'] }],
  },
  update: () => ({
    type: 'ACTIVITY_TYPE_UPDATE_MFA_POLICY',
    carries: 'one',
    parameters: ([change]) => wire.toUpdateIntent(change!.actual!, change!.desired!, change!.fields),
  }),
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_MFA_POLICY',
    carries: 'one',
    parameters: ([change]) => ({ userId: change!.actual!.parentId!, mfaPolicyId: change!.actual!.id! }),
  },
  power: mfaPower,
}

function methodSchema(): NonNullable<ResourceKind['fields'][string]['schema']> {
  return {
    type: ['string', 'object'],
    if: { type: 'object' },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      additionalProperties: false,
      required: ['type'],
      properties: {
        type: { enum: METHODS },
        id: { type: 'string', minLength: 1, description: 'The id of the credential, or of the session profile.' },
      },
    },
    else: { enum: METHODS },
  }
}

/** Which of two is the stricter is not asked: a changed one may be the weaker, so it comes last, like one that goes. */
function mfaPower({ fields }: ChangeInput, action: 'create' | 'update' | 'delete'): Power {
  if (action === 'create') return 'tightens'
  return action === 'update' && fields.every((field) => field === 'name' || field === 'notes') ? 'neutral' : 'loosens'
}
