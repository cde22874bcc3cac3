import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { PolicyRow } from './store.ts'

/**
 * Writes a policy as the API does: its texts exactly as they were sent, `""` when unset
 * (docs/protocol/organizations.md#records).
 */
export function toWirePolicy(row: PolicyRow): Wire.Policy {
  return {
    policyId: row.id,
    policyName: row.name,
    effect: row.effect as Wire.Effect,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
    notes: row.notes,
    consensus: row.consensus ?? '',
    condition: row.condition ?? '',
    ...(row.time === null ? {} : { time: row.time }),
  }
}
