import type { Schema } from './schema.ts'
import type { Transaction } from './transaction.ts'

/** The kinds whose number an organization may reach a limit of. */
type Counted = 'private_keys' | 'webhook_endpoints' | 'invitations'

/** Counts what the organization has of a kind. */
export async function countRows(
  tx: Transaction,
  table: Counted & keyof Schema,
  organizationId: string,
): Promise<number> {
  const { count } = await tx
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(count)
}
