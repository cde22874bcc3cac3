import { toTimestamp, type Wire } from '../../../protocol/index.ts'
import type { MfaPolicyRow } from './store.ts'

/** Writes an MFA policy as the API does. */
export function toWireMfaPolicy(row: MfaPolicyRow): Wire.MfaPolicy {
  return {
    mfaPolicyId: row.id,
    mfaPolicyName: row.name,
    condition: row.condition,
    requiredAuthenticationMethods: toWireSteps(row.steps),
    order: row.evaluation_order,
    notes: row.notes,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  }
}

/** Writes the steps of an MFA policy as the API does. */
export function toWireSteps(steps: string): readonly Wire.RequiredAuthenticationMethod[] {
  return (JSON.parse(steps) as readonly (readonly Wire.AuthenticationMethod[])[]).map((any) => ({ any }))
}
