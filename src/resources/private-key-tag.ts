import type { ResourceKind } from './kind.ts'
import { anyTag } from './tag.ts'
import { fromWire } from './wire/private-key-tag.ts'
import { recordsOf } from './wire/record.ts'

/** A tag of private keys: a group that policies name. Who is in it is a field of the private keys. */
export const privateKeyTag: ResourceKind = {
  kind: 'privateKeyTag',
  one: 'private key tag',
  many: 'private key tags',
  form: { key: 'privateKeyTags', shape: 'map', renamable: true },
  ...anyTag,
  changedBy: ['CREATE_PRIVATE_KEY_TAG', 'UPDATE_PRIVATE_KEY_TAG', 'DELETE_PRIVATE_KEY_TAGS'],
  read: {
    query: 'list_private_key_tags',
    from: (answer) =>
      recordsOf(answer, 'privateKeyTags')
        .filter(({ tagType }) => tagType !== 'TAG_TYPE_USER')
        .map(fromWire),
  },
  create: {
    type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG',
    carries: 'one',
    parameters: ([change]) => ({ privateKeyTagName: change!.desired!.name, privateKeyIds: [] }),
    produces: ([change]) => [
      { address: change!.desired!.address, at: ['createPrivateKeyTagResult', 'privateKeyTagId'] },
    ],
  },
  update: () => ({
    type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
    carries: 'one',
    parameters: ([change]) => ({
      privateKeyTagId: change!.actual!.id!,
      newPrivateKeyTagName: change!.desired!.name,
      addPrivateKeyIds: [],
      removePrivateKeyIds: [],
    }),
  }),
  remove: {
    type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS',
    carries: 'all',
    parameters: (changes) => ({ privateKeyTagIds: changes.map(({ actual }) => actual!.id!) }),
  },
}
