import type { HandlerContext } from '../../engine/index.ts'
import { mentionedTwice } from '../../readings.ts'
import { checkLimit } from '../limits.ts'
import {
  deleteTagMembers,
  deleteTags as deleteTagRows,
  insertTag,
  insertTagMembers,
  listTagMembers,
  listTags,
  type TagType,
  updateTag as updateTagRow,
} from './store.ts'

/** A tag that is made, whatever it is for. */
export interface NewTag {
  readonly type: TagType
  readonly name: string
  readonly memberIds: readonly string[]
}

/** A change of who bears a tag. */
export interface TagChange {
  readonly tagId: string
  readonly name: string | undefined
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

/**
 * Throws code 8 for one tag too many: tags of users and of private keys share one limit
 * (docs/protocol/limits.md#resources).
 */
export async function checkTagLimit(context: HandlerContext): Promise<void> {
  const { length: present } = await listTags(context.tx, context.organizationId)
  await checkLimit(context, 'tags', { present, added: 1 })
}

/** Throws the refusal of a member that is both given the tag and deprived of it. */
export function checkDisjoint(fields: string, { add, remove }: Pick<TagChange, 'add' | 'remove'>): void {
  const both = add.find((id) => remove.includes(id))
  if (both !== undefined) throw mentionedTwice(fields, both)
}

/** Makes a tag and returns its id. */
export async function addTag(context: HandlerContext, { type, name, memberIds }: NewTag): Promise<string> {
  const { tx, organizationId, now } = context
  const id = context.newId()
  await insertTag(tx, { id, organization_id: organizationId, name, type, created_at: now, updated_at: now })
  await insertTagMembers(tx, organizationId, members(id, memberIds))
  return id
}

/** Changes a tag's name and members. */
export async function changeTag({ tx, organizationId, now }: HandlerContext, change: TagChange): Promise<void> {
  const { tagId, name, add, remove } = change
  await insertTagMembers(tx, organizationId, members(tagId, add))
  await deleteTagMembers(tx, organizationId, { tagId, memberIds: remove })
  await updateTagRow(tx, organizationId, tagId, { ...(name ? { name } : {}), now })
}

/** Deletes tags and returns who bore one of them, each once. */
export async function removeTags({ tx, organizationId }: HandlerContext, tagIds: readonly string[]): Promise<string[]> {
  const borne = await listTagMembers(tx, organizationId, { tagIds })
  await deleteTagRows(tx, organizationId, tagIds)
  return [...new Set(borne.map(({ memberId }) => memberId))]
}

function members(tagId: string, memberIds: readonly string[]) {
  return memberIds.map((memberId) => ({ tagId, memberId }))
}
