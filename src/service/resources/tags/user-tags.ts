import type { Wire } from '../../../protocol/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { requireUsers, requireUserTags } from '../require.ts'
import { addTag, changeTag, checkDisjoint, checkTagLimit, removeTags } from './tags.ts'

const createUserTag: TypedHandler<Wire.CreateUserTagIntent, Wire.CreateUserTagResult> = {
  async validate(context, { userIds }) {
    await requireUsers(context, 'userIds', userIds)
    await checkTagLimit(context)
  },
  async execute(context, { userTagName: name, userIds }) {
    return { userTagId: await addTag(context, { type: 'TAG_TYPE_USER', name, memberIds: userIds }), userIds }
  },
}

const updateUserTag: TypedHandler<Wire.UpdateUserTagIntent, Wire.UpdateUserTagResult> = {
  async validate(context, { userTagId, addUserIds, removeUserIds }) {
    await requireUserTags(context, 'userTagId', [userTagId])
    await requireUsers(context, 'addUserIds', addUserIds)
    await requireUsers(context, 'removeUserIds', removeUserIds)
    checkDisjoint('addUserIds, removeUserIds', { add: addUserIds, remove: removeUserIds })
  },
  async execute(context, { userTagId, newUserTagName: name, addUserIds, removeUserIds }) {
    await changeTag(context, { tagId: userTagId, name, add: addUserIds, remove: removeUserIds })
    return { userTagId }
  },
}

const deleteUserTags: TypedHandler<Wire.DeleteUserTagsIntent, Wire.DeleteUserTagsResult> = {
  async validate(context, { userTagIds }) {
    await requireUserTags(context, 'userTagIds', userTagIds)
  },
  execute: async (context, { userTagIds }) => ({ userTagIds, userIds: await removeTags(context, userTagIds) }),
}

export const userTagHandlers = {
  ACTIVITY_TYPE_CREATE_USER_TAG: createUserTag,
  ACTIVITY_TYPE_UPDATE_USER_TAG: updateUserTag,
  ACTIVITY_TYPE_DELETE_USER_TAGS: deleteUserTags,
} satisfies HandlerRows
