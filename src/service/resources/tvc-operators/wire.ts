import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { TvcOperatorRow, TvcOperatorSet } from './store.ts'

/** Writes an operator as the API does. */
export function toWireTvcOperator(row: TvcOperatorRow): Wire.TvcOperator {
  return {
    id: row.id,
    name: row.name,
    publicKey: row.public_key,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }
}

/** Writes a set with its members. */
export function toWireTvcOperatorSet(set: TvcOperatorSet): Wire.TvcOperatorSet {
  return {
    id: set.id,
    name: set.name,
    organizationId: set.organization_id,
    operators: set.members.map(toWireTvcOperator),
    threshold: set.threshold,
    createdAt: toTimestamp(set.created_at),
    updatedAt: toTimestamp(set.updated_at),
  }
}
