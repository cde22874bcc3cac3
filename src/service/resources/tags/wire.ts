import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { TagRow } from './store.ts'

/** Writes a tag as the API does. */
export function toWireTag(row: TagRow): Wire.Tag {
  return {
    tagId: row.id,
    tagName: row.name,
    tagType: row.type as Wire.TagType,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }
}
