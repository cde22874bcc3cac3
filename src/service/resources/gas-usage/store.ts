import type { Transaction } from '../../store/index.ts'

/** How much of its own and its sub-organizations' sends a parent pays for (docs/protocol/sends.md#sponsorship-limits). */
export interface GasUsageConfigRow {
  organization_id: string
  id: string
  /** Decimal, as it was sent: for the parent and all its sub-organizations together. */
  org_window_limit_usd: string
  /** Decimal, as it was sent: for each sub-organization. */
  sub_org_window_limit_usd: string
  window_duration_minutes: number
  enabled: number
  /** JSON of `{rentPrefundEnabled?}`, or null. */
  solana_config: string | null
  created_at: number
  updated_at: number
}

/** The cost of one sponsored send: an estimate until it is included. */
export interface GasUsageRow {
  send_id: string
  /** The sender's organization. */
  organization_id: string
  /** The parent whose limits it counts towards; the sender's own organization where that is the parent. */
  paying_organization_id: string
  /** Millionths of a dollar, rounded up. */
  micro_usd: number
  /** When the send was accepted: the moment that places it in the window. */
  created_at: number
}

declare module '../../store/schema.ts' {
  interface Schema {
    gas_usage_configs: GasUsageConfigRow
    gas_usages: GasUsageRow
  }
}

/** Reads what a parent pays for. */
export async function findGasUsageConfig(
  tx: Transaction,
  organizationId: string,
): Promise<GasUsageConfigRow | undefined> {
  return tx.selectFrom('gas_usage_configs').selectAll().where('organization_id', '=', organizationId).executeTakeFirst()
}

/** Puts a parent's config into the place of the one that it had. */
export async function replaceGasUsageConfig(tx: Transaction, config: GasUsageConfigRow): Promise<void> {
  await tx.deleteFrom('gas_usage_configs').where('organization_id', '=', config.organization_id).execute()
  await tx.insertInto('gas_usage_configs').values(config).execute()
}

/** Records the estimated cost of a send that was just accepted. */
export async function insertGasUsage(tx: Transaction, usage: GasUsageRow): Promise<void> {
  await tx.insertInto('gas_usages').values(usage).execute()
}

/** Reads what a send costs; nothing for one that its sender pays for. */
export async function findGasUsage(
  tx: Transaction,
  organizationId: string,
  sendId: string,
): Promise<GasUsageRow | undefined> {
  return tx
    .selectFrom('gas_usages')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('send_id', '=', sendId)
    .executeTakeFirst()
}

/** Replaces the estimated cost of a send by a better one. */
export async function updateGasUsage(
  tx: Transaction,
  { organization_id, send_id, micro_usd }: Pick<GasUsageRow, 'organization_id' | 'send_id' | 'micro_usd'>,
): Promise<void> {
  await tx
    .updateTable('gas_usages')
    .set({ micro_usd })
    .where('organization_id', '=', organization_id)
    .where('send_id', '=', send_id)
    .execute()
}

/**
 * Adds up, in millionths of a dollar, what a parent has paid since a moment: for all of its tree, or for one organization
 * of it. A send that failed was in no block and has cost nothing.
 */
export async function sumGasUsage(
  tx: Transaction,
  payingOrganizationId: string,
  { since, organizationId }: { readonly since: number; readonly organizationId?: string | undefined },
): Promise<number> {
  let query = tx
    .selectFrom('gas_usages')
    .innerJoin('sends', 'sends.id', 'gas_usages.send_id')
    .select(({ fn }) => fn.sum<number | null>('gas_usages.micro_usd').as('total'))
    .where('gas_usages.paying_organization_id', '=', payingOrganizationId)
    .where('gas_usages.created_at', '>', since)
    .where('sends.status', '!=', 'FAILED')
  if (organizationId !== undefined) query = query.where('gas_usages.organization_id', '=', organizationId)
  return (await query.executeTakeFirst())?.total ?? 0
}
