import {
  createTable,
  type InOrder,
  piecesOf,
  type Rows,
  remember,
  storedList,
  type Transaction,
} from '../../store/index.ts'

export interface TagRow {
  id: string
  organization_id: string
  name: string
  /** TAG_TYPE_USER or TAG_TYPE_PRIVATE_KEY. */
  type: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    tags: InOrder<TagRow>
  }
}

export const tagTable = createTable('tags')
export const tagList = storedList('tags', ['name'])

export type TagType = 'TAG_TYPE_USER' | 'TAG_TYPE_PRIVATE_KEY'

/** Adds a tag. */
export async function insertTag(tx: Transaction, tag: TagRow): Promise<void> {
  await tagTable.insert(tx, [tag])
}

/** Reads the tags of the organization, of one type or of all, in the order of their creation. */
export async function listTags(tx: Transaction, organizationId: string, type?: TagType): Promise<TagRow[]> {
  let query = tx.selectFrom('tags').selectAll().where('organization_id', '=', organizationId)
  if (type) query = query.where('type', '=', type)
  return query.orderBy('tags.position').execute()
}

/** Changes a tag's name, or only says that its members have changed. */
export async function updateTag(
  tx: Transaction,
  organizationId: string,
  tagId: string,
  change: { readonly name?: string; readonly now: number },
): Promise<void> {
  await tagTable.update(tx, organizationId, tagId, change)
}

/** Deletes tags, with their memberships. */
export async function deleteTags(tx: Transaction, organizationId: string, tagIds: readonly string[]): Promise<void> {
  // A tag may have a thousand members: one at a time.
  for (const tagId of tagIds)
    await tx
      .deleteFrom('tag_members')
      .where('organization_id', '=', organizationId)
      .where('tag_id', '=', tagId)
      .execute()
  await tagTable.delete(tx, organizationId, tagIds)
}

const membershipsBy = (column: 'tag_members.tag_id' | 'tag_members.member_id') =>
  remember((tx, of: { organizationId: string; ids: readonly string[] }) =>
    tx
      .selectFrom('tag_members')
      .innerJoin('tags', 'tags.id', 'tag_members.tag_id')
      .select(['tag_members.tag_id as tagId', 'tag_members.member_id as memberId'])
      .where('tag_members.organization_id', '=', of.organizationId)
      .where(column, 'in', of.ids)
      .orderBy('tags.position')
      .orderBy('tag_members.member_id'),
  )
const membersOfTags = membershipsBy('tag_members.tag_id')
const tagsOfMembers = membershipsBy('tag_members.member_id')

/** Reads who bears these tags: pairs of tag and member, tags in the order of their creation. */
export function listTagMembers(
  tx: Transaction,
  organizationId: string,
  of: { readonly tagIds: readonly string[] } | { readonly memberIds: readonly string[] },
): Rows<readonly { tagId: string; memberId: string }[]> {
  const ids = 'tagIds' in of ? of.tagIds : of.memberIds
  if (ids.length === 0) return []
  return ('tagIds' in of ? membersOfTags : tagsOfMembers)(tx, { organizationId, ids })
}

/** Gives tags to members; who bears one already keeps it. */
export async function insertTagMembers(
  tx: Transaction,
  organizationId: string,
  members: readonly { readonly tagId: string; readonly memberId: string }[],
): Promise<void> {
  for (const some of piecesOf(members))
    await tx
      .insertInto('tag_members')
      .values(
        some.map(({ tagId, memberId }) => ({ organization_id: organizationId, tag_id: tagId, member_id: memberId })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute()
}

/** Takes a tag from these members. */
export async function deleteTagMembers(
  tx: Transaction,
  organizationId: string,
  from: { readonly tagId: string; readonly memberIds: readonly string[] },
): Promise<void> {
  if (from.memberIds.length === 0) return
  await tx
    .deleteFrom('tag_members')
    .where('organization_id', '=', organizationId)
    .where('tag_id', '=', from.tagId)
    .where('member_id', 'in', from.memberIds)
    .execute()
}

/** Takes all tags from a member. */
export async function deleteTagsOfMember(tx: Transaction, organizationId: string, memberId: string): Promise<void> {
  await tx
    .deleteFrom('tag_members')
    .where('organization_id', '=', organizationId)
    .where('member_id', '=', memberId)
    .execute()
}
