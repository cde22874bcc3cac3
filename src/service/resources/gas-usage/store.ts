import type { GasUsageConfigRow, GasUsageRow, Transaction } from '../../store/index.ts'

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

/** Notes what a send that was just accepted may cost. */
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

/** Notes what a send costs, now that more is known of it. */
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
