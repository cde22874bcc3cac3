import type { Wire } from '../../protocol/index.ts'
import {
  deleteTagMembers,
  deleteTags,
  insertTag,
  insertTagMembers,
  listTagMembers,
  listTags,
  updateTag,
} from '../store/tags.ts'
import { checkLimit } from './limits.ts'
import { mentionedTwice } from './readings.ts'
import { requireUsers, requireUserTags } from './require.ts'
import type { HandlerRows, TypedHandler } from './table.ts'

const createUserTag: TypedHandler<Wire.CreateUserTagIntent, Wire.CreateUserTagResult> = {
  async validate(context, { userIds }) {
    await requireUsers(context, 'userIds', userIds)
    // Tags of users and of private keys share one limit (facts: protocol §14).
    const { length: present } = await listTags(context.tx, context.organizationId)
    await checkLimit(context, 'tags', { present, added: 1 })
  },
  async execute(context, { userTagName, userIds }) {
    const { tx, organizationId, now } = context
    const id = context.newId()
    const made = { created_at: now, updated_at: now }
    await insertTag(tx, { id, organization_id: organizationId, name: userTagName, type: 'TAG_TYPE_USER', ...made })
    await insertTagMembers(tx, organizationId, members(id, userIds))
    return { userTagId: id, userIds }
  },
}

const updateUserTag: TypedHandler<Wire.UpdateUserTagIntent, Wire.UpdateUserTagResult> = {
  async validate(context, { userTagId, addUserIds, removeUserIds }) {
    await requireUserTags(context, 'userTagId', [userTagId])
    await requireUsers(context, 'addUserIds', addUserIds)
    await requireUsers(context, 'removeUserIds', removeUserIds)
    const both = addUserIds.find((id) => removeUserIds.includes(id))
    if (both !== undefined) throw mentionedTwice('addUserIds, removeUserIds', both)
  },
  async execute({ tx, organizationId, now }, { userTagId, newUserTagName, addUserIds, removeUserIds }) {
    await insertTagMembers(tx, organizationId, members(userTagId, addUserIds))
    await deleteTagMembers(tx, organizationId, { tagId: userTagId, memberIds: removeUserIds })
    await updateTag(tx, organizationId, userTagId, { ...(newUserTagName ? { name: newUserTagName } : {}), now })
    return { userTagId }
  },
}

const deleteUserTags: TypedHandler<Wire.DeleteUserTagsIntent, Wire.DeleteUserTagsResult> = {
  async validate(context, { userTagIds }) {
    await requireUserTags(context, 'userTagIds', userTagIds)
  },
  /** Answers with the users who bore one of the tags, each once. */
  async execute({ tx, organizationId }, { userTagIds }) {
    const borne = await listTagMembers(tx, organizationId, { tagIds: userTagIds })
    await deleteTags(tx, organizationId, userTagIds)
    return { userTagIds, userIds: [...new Set(borne.map(({ memberId }) => memberId))] }
  },
}

export const userTagHandlers = {
  ACTIVITY_TYPE_CREATE_USER_TAG: createUserTag,
  ACTIVITY_TYPE_UPDATE_USER_TAG: updateUserTag,
  ACTIVITY_TYPE_DELETE_USER_TAGS: deleteUserTags,
} satisfies HandlerRows

function members(tagId: string, userIds: readonly string[]) {
  return userIds.map((memberId) => ({ tagId, memberId }))
}
