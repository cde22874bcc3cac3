import type { Wire } from '../../../protocol/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requirePrivateKeys, requirePrivateKeyTags } from '../require.ts'
import { addTag, changeTag, checkDisjoint, checkTagLimit, removeTags } from './tags.ts'

const createPrivateKeyTag: TypedHandler<Wire.CreatePrivateKeyTagIntent, Wire.CreatePrivateKeyTagResult> = {
  async validate(context, { privateKeyIds }) {
    await requirePrivateKeys(context, 'privateKeyIds', privateKeyIds)
    await checkTagLimit(context)
  },
  async execute(context, { privateKeyTagName: name, privateKeyIds }) {
    const privateKeyTagId = await addTag(context, { type: 'TAG_TYPE_PRIVATE_KEY', name, memberIds: privateKeyIds })
    return { privateKeyTagId, privateKeyIds }
  },
}

const updatePrivateKeyTag: TypedHandler<Wire.UpdatePrivateKeyTagIntent, Wire.UpdatePrivateKeyTagResult> = {
  async validate(context, { privateKeyTagId, addPrivateKeyIds, removePrivateKeyIds }) {
    await requirePrivateKeyTags(context, 'privateKeyTagId', [privateKeyTagId])
    await requirePrivateKeys(context, 'addPrivateKeyIds', addPrivateKeyIds)
    await requirePrivateKeys(context, 'removePrivateKeyIds', removePrivateKeyIds)
    checkDisjoint('addPrivateKeyIds, removePrivateKeyIds', { add: addPrivateKeyIds, remove: removePrivateKeyIds })
  },
  async execute(context, { privateKeyTagId, newPrivateKeyTagName: name, addPrivateKeyIds, removePrivateKeyIds }) {
    await changeTag(context, { tagId: privateKeyTagId, name, add: addPrivateKeyIds, remove: removePrivateKeyIds })
    return { privateKeyTagId }
  },
}

const deletePrivateKeyTags: TypedHandler<Wire.DeletePrivateKeyTagsIntent, Wire.DeletePrivateKeyTagsResult> = {
  async validate(context, { privateKeyTagIds }) {
    await requirePrivateKeyTags(context, 'privateKeyTagIds', privateKeyTagIds)
  },
  async execute(context, { privateKeyTagIds }) {
    return { privateKeyTagIds, privateKeyIds: await removeTags(context, privateKeyTagIds) }
  },
}

export const privateKeyTagHandlers = {
  ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG: createPrivateKeyTag,
  ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG: updatePrivateKeyTag,
  ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS: deletePrivateKeyTags,
} satisfies HandlerRows
