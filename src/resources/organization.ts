import type { ResourceKind } from './kind.ts'

/** The organization's own live name. There is one, it always exists, and its id is the organization's. */
export const organization: ResourceKind = {
  kind: 'organization',
  one: 'organization',
  many: 'organizations',
  form: { key: 'name', shape: 'value' },
  fields: {
    name: {
      compare: 'exact',
      meaning: 'The name of the organization as the API shows it.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
  },
  referable: false,
  deleteNeedsTombstone: true,
  rides: false,
  changedBy: ['UPDATE_ORGANIZATION_NAME'],
  identity: () => 'organization',
  update: () => ({
    type: 'ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME',
    carries: 'one',
    parameters: ([change]) => ({ organizationName: change!.desired!.fields['name']! }),
  }),
  power: () => 'neutral',
}
