import { formatAddress } from './address.ts'
import { loginFeaturesOf } from './feature.ts'
import type { ChangeInput, Power, ResourceKind } from './kind.ts'
import { EMAIL } from './published.ts'
import { listOf, sameValue } from './value.ts'
import * as wire from './wire/user.ts'

/**
 * Activities for one field alone. The decision which one carries an update is here: one `update_user` where several fields
 * or the tags change, so that people are asked once; the single one where one field changes alone, so that a policy may
 * allow no more than that, and where an address goes, which only they can take away.
 */
const SINGLE = [
  { field: 'name', type: 'ACTIVITY_TYPE_UPDATE_USER_NAME' },
  { field: 'email', type: 'ACTIVITY_TYPE_UPDATE_USER_EMAIL' },
  { field: 'phone', type: 'ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER' },
] as const

/** A person or a machine with credentials. New users come with their API keys and passkeys. */
export const user: ResourceKind = {
  kind: 'user',
  one: 'user',
  many: 'users',
  form: { key: 'users', shape: 'map', renamable: true },
  fields: {
    name: { compare: 'exact', meaning: 'Their name.' },
    email: {
      compare: 'case-insensitive',
      meaning: 'Their e-mail address. Left out: none.',
      absent: null,
      schema: EMAIL,
    },
    phone: {
      compare: 'exact',
      meaning: 'Their phone number in E.164 form, e.g. `+15551234567`. Left out: none.',
      absent: null,
      schema: {
        type: 'string',
        title: 'a phone number in E.164 form, such as `+15551234567`',
        pattern: '^\\+[1-9][0-9]{1,14}$|\\$\\{',
      },
    },
    tags: {
      compare: 'set',
      meaning:
        'The tags they carry. Written, these and no others; never written, they are not managed; taken out again, none.',
      cleared: [],
      names: 'tag',
      schema: { type: 'array', items: { type: 'string' } },
    },
  },
  referable: true,
  deleteNeedsTombstone: true,
  rides: false,
  changedBy: [
    'CREATE_USERS',
    'CREATE_API_ONLY_USERS',
    'ENABLE_AUTH_PROXY',
    'UPDATE_USER',
    'UPDATE_USER_NAME',
    'UPDATE_USER_EMAIL',
    'UPDATE_USER_PHONE_NUMBER',
    // Either changes which users have a tag.
    'CREATE_USER_TAG',
    'UPDATE_USER_TAG',
    'DELETE_USERS',
  ],
  identity: ({ name }) => name,
  alike: { fields: ['email', 'phone'], anyOf: ['apiKey', 'authenticator', 'oauthProvider'] },
  create: {
    type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
    carries: 'all',
    parameters: (changes) => ({ users: changes.map(({ desired, children }) => wire.toIntent(desired!, children)) }),
    produces: (changes) =>
      changes.map(({ desired }, index) => ({
        address: desired!.address,
        at: ['createUsersResult', 'userIds', index],
      })),
  },
  update: ({ fields: [first, ...others] }) => {
    const single = others.length === 0 ? SINGLE.find(({ field }) => field === first) : undefined
    return {
      type: single?.type ?? 'ACTIVITY_TYPE_UPDATE_USER',
      carries: 'one',
      parameters: ([change]) => {
        const { desired, actual, fields } = change!
        return single
          ? wire.toSingleIntent(actual!.id!, desired!, single.field)
          : wire.toUpdateIntent(actual!.id!, desired!, fields)
      },
    }
  },
  split: ({ desired, fields }) => {
    const taken = fields.filter((field) => (field === 'email' || field === 'phone') && desired!.fields[field] === null)
    const rest = fields.filter((field) => !taken.includes(field))
    return [...(rest.length > 0 ? [{ fields: rest }] : []), ...taken.map((field) => ({ fields: [field] }))]
  },
  // A new user without a credential is taken only once their contact is a way in (docs/protocol/organizations.md#ways-in).
  needs: ({ desired, actual, children }) =>
    actual || children.length > 0 ? [] : loginFeaturesOf(desired!.fields).map((name) => formatAddress('feature', name)),
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_USERS',
    carries: 'all',
    parameters: (changes) => ({ userIds: changes.map(({ actual }) => actual!.id!) }),
  },
  power: (change, action) => {
    if (action === 'create') return 'neutral'
    return action === 'delete' ? 'tightens' : updatePower(change)
  },
}

/** Removals tighten. A new tag, and an address that can receive a login, loosen. A name does neither. */
function updatePower({ desired, actual, fields }: ChangeInput): Power {
  const addresses = fields.filter((field) => field === 'email' || field === 'phone')
  if (addresses.some((field) => desired?.fields[field] !== null)) return 'loosens'
  if (!fields.includes('tags')) return addresses.length > 0 ? 'tightens' : 'neutral'
  const before = listOf(actual?.fields['tags'])
  const gained = listOf(desired?.fields['tags']).some((one) => !before.some((old) => sameValue(old, one, 'exact')))
  return gained ? 'loosens' : 'tightens'
}
