import type { MfaPolicy } from '../../../authority/index.ts'
import { createTable, type InOrder, type Rows, remember, storedList, type Transaction } from '../../store/index.ts'

/** The further factors that a user's votes need (docs/protocol/mfa.md). */
export interface MfaPolicyRow {
  id: string
  organization_id: string
  user_id: string
  name: string
  condition: string
  /** JSON: a list of steps, each a list of `{type, id?}`. */
  steps: string
  evaluation_order: number
  notes: string
  created_at: number
  updated_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    mfa_policies: InOrder<MfaPolicyRow>
  }
}

export const mfaPolicyTable = createTable('mfa_policies')
export const mfaPolicyList = storedList('mfa_policies', ['name', 'condition', 'steps', 'notes'])

const ofUsers = remember((tx, of: { organizationId: string; userIds: readonly string[] }) =>
  tx
    .selectFrom('mfa_policies')
    .selectAll()
    .where('organization_id', '=', of.organizationId)
    .where('user_id', 'in', of.userIds)
    .orderBy('mfa_policies.position'),
)

/** Reads the MFA policies of users, in the order of their creation. */
export function listMfaPolicies(
  tx: Transaction,
  organizationId: string,
  userIds: readonly string[],
): Rows<readonly MfaPolicyRow[]> {
  return userIds.length === 0 ? [] : ofUsers(tx, { organizationId, userIds })
}

/** The policy as authority reads it. */
export function toMfaPolicy({ id, condition, evaluation_order: order, steps }: MfaPolicyRow): MfaPolicy {
  return { id, condition, order, steps: JSON.parse(steps) as MfaPolicy['steps'] }
}
