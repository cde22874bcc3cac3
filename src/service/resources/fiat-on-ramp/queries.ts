import { apiError } from '../../../protocol/index.ts'
import type { QueryOf, QueryRows } from '../query-table.ts'
import { fiatOnRampCredentialTable, findOnRampTransaction } from './store.ts'
import { toWireFiatOnRampCredential } from './wire.ts'

const list: QueryOf<'list_fiat_on_ramp_credentials'> = async ({ tx, organizationId }) => ({
  fiatOnRampCredentials: (await fiatOnRampCredentialTable.list(tx, organizationId)).map(toWireFiatOnRampCredential),
})

/** Unstated: what `refresh` changes. Nothing is kept of a status, so that the provider is asked in any case. */
const getStatus: QueryOf<'get_onramp_transaction_status'> = async (context, { transactionId }) => {
  const { tx, organizationId, onRamp } = context
  const transaction = await findOnRampTransaction(tx, organizationId, transactionId)
  if (!transaction) throw apiError('notFound', 'on-ramp transaction', transactionId)
  return async () => ({ transactionStatus: await onRamp.status(transaction) })
}

export const fiatOnRampQueries = {
  list_fiat_on_ramp_credentials: list,
  get_onramp_transaction_status: getStatus,
} satisfies QueryRows
