import type { ResourceKind } from './kind.ts'
import { EMAIL } from './published.ts'
import * as wire from './wire/invitation.ts'
import { recordsOf, takeRecord } from './wire/record.ts'

const FIXED = 'the API changes no invitation; delete it and invite them anew'

/** An invitation to become a user. One that was accepted stays and means nothing more; the user is a resource of its own. */
export const invitation: ResourceKind = {
  kind: 'invitation',
  one: 'invitation',
  many: 'invitations',
  form: { key: 'invitations', shape: 'map' },
  fields: {
    name: { compare: 'exact', meaning: 'The name that the user will have.', immutable: FIXED },
    email: {
      compare: 'case-insensitive',
      meaning: 'Where the invitation is sent.',
      immutable: FIXED,
      required: true,
      schema: EMAIL,
    },
    tags: {
      compare: 'set',
      meaning: 'The tags that the user will carry. Left out: none, or those that it has.',
      immutable: FIXED,
      names: 'tag',
      schema: { type: 'array', items: { type: 'string' } },
    },
    access: {
      compare: 'exact',
      meaning: 'How the user will come in.',
      immutable: FIXED,
      required: true,
      schema: { enum: ['web', 'api', 'all'] },
    },
    sender: {
      compare: 'exact',
      meaning: 'The user who invites them, by name.',
      immutable: FIXED,
      required: true,
      names: 'user',
      schema: { type: 'string', minLength: 1 },
    },
  },
  referable: false,
  deleteNeedsTombstone: false,
  rides: false,
  changedBy: ['CREATE_INVITATIONS', 'ACCEPT_INVITATION', 'DELETE_INVITATION'],
  identity: ({ name }) => name,
  read: {
    // No published query lists them; this one is in the API's schema all the same (docs/protocol/requests.md#queries).
    query: 'get_organization',
    onDemand: true,
    from: ({ organizationData }) =>
      recordsOf(takeRecord(organizationData, '`organizationData`'), 'invitations').flatMap(
        (record) => wire.fromWire(record) ?? [],
      ),
  },
  create: {
    type: 'ACTIVITY_TYPE_CREATE_INVITATIONS',
    carries: 'all',
    parameters: (changes) => ({ invitations: changes.map(({ desired }) => wire.toIntent(desired!)) }),
    produces: (changes) =>
      changes.map(({ desired }, index) => ({
        address: desired!.address,
        at: ['createInvitationsResult', 'invitationIds', index],
      })),
  },
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_INVITATION',
    carries: 'one',
    parameters: ([change]) => ({ invitationId: change!.actual!.id! }),
  },
  power: (_change, action) => (action === 'delete' ? 'tightens' : 'loosens'),
}
