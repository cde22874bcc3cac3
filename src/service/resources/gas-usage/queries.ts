import { apiError } from '../../../protocol/index.ts'
import { readGasUsage } from '../../sends/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'

/** Of a parent its whole tree's usage, of a sub-organization its own. Unstated: without a config there is nothing to read. */
const getGasUsage: QueryOf<'get_gas_usage'> = async (context) => {
  const usage = await readGasUsage(context)
  if (usage === undefined) throw apiError('notFound', 'gas usage config of organization', context.organizationId)
  return usage
}

export const gasUsageQueries = { get_gas_usage: getGasUsage } satisfies QueryRows
