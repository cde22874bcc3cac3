import type { ResourceKind } from './kind.ts'

/** What is true of tags, whatever they are put on. */
export const anyTag = {
  fields: {
    name: { compare: 'exact', meaning: 'Its name.' },
  },
  referable: true,
  deleteNeedsTombstone: false,
  rides: false,
  identity: ({ name }) => name,
  // A tag that goes takes its members out of ALLOW and DENY policies alike, so which way it works is unknown.
  power: (_change, action) => (action === 'delete' ? 'loosens' : 'neutral'),
} satisfies Partial<ResourceKind>

/** A user tag: a group that policies name. Who is in it is a field of the users. */
export const tag: ResourceKind = {
  kind: 'tag',
  one: 'tag',
  many: 'tags',
  form: { key: 'tags', shape: 'map', renamable: true },
  ...anyTag,
  changedBy: ['CREATE_USER_TAG', 'UPDATE_USER_TAG', 'DELETE_USER_TAGS'],
  create: {
    type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
    carries: 'one',
    parameters: ([change]) => ({ userTagName: change!.desired!.name, userIds: [] }),
    produces: ([change]) => [{ address: change!.desired!.address, at: ['createUserTagResult', 'userTagId'] }],
  },
  update: () => ({
    type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
    carries: 'one',
    parameters: ([change]) => ({
      userTagId: change!.actual!.id!,
      newUserTagName: change!.desired!.name,
      addUserIds: [],
      removeUserIds: [],
    }),
  }),
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_USER_TAGS',
    carries: 'all',
    parameters: (changes) => ({ userTagIds: changes.map(({ actual }) => actual!.id!) }),
  },
}
